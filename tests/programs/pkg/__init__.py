"""What the import_*.py programs import. Only `order` has state that outlives a failed import."""
