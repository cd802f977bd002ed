"""SQLAlchemy over a SQLite file: sessions in several threads, times and random keys in rows."""

from __future__ import annotations

import hashlib
import threading
import uuid
from datetime import datetime

from sqlalchemy import ForeignKey, create_engine, func, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship


class Base(DeclarativeBase):
    pass


class Owner(Base):
    __tablename__ = "owner"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    notes: Mapped[list[Note]] = relationship(back_populates="owner")


class Note(Base):
    __tablename__ = "note"
    id: Mapped[str] = mapped_column(primary_key=True, default=lambda: uuid.uuid4().hex)
    text: Mapped[str]
    at: Mapped[datetime] = mapped_column(default=datetime.now)
    owner_id: Mapped[int] = mapped_column(ForeignKey("owner.id"))
    owner: Mapped[Owner] = relationship(back_populates="notes")


engine = create_engine("sqlite:///notes.db", connect_args={"timeout": 30})


def work(number: int) -> None:
    for turn in range(6):
        with Session(engine) as session, session.begin():
            owner = session.get_one(Owner, number % 2 + 1)
            owner.notes.append(Note(text=f"{number} wrote {turn}"))


def main() -> None:
    Base.metadata.create_all(engine)
    with Session(engine) as session, session.begin():
        session.add_all([Owner(name="ann"), Owner(name="bob")])
    workers = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    with Session(engine) as session:
        count = session.scalar(select(func.count()).select_from(Note))
        rows = session.execute(select(Note.id, Note.text, Note.at).order_by(Note.at)).all()
        names = [(owner.name, len(owner.notes)) for owner in session.scalars(select(Owner))]
    print(f"{count} notes: {names}")
    print("state", hashlib.sha256(repr([tuple(row) for row in rows]).encode()).hexdigest())


main()
