"""The values of reviews, keys and the list of trusted keys, in one place for the window."""

from __future__ import annotations

from dpdesk.app.review.acting import Signed, Wish
from dpdesk.app.review.looking import ReviewPicture
from dpdesk.project.review.cards import Card
from dpdesk.project.review.checklist import Difference, Item
from dpdesk.project.review.drafts import KeptChoice, KeptDraft, subjects
from dpdesk.project.review.events import Event, Fault
from dpdesk.project.review.keys import SHORTEST_PASSPHRASE, StoredKey
from dpdesk.project.review.making import proposed_vote
from dpdesk.project.review.payloads import (
    ChecklistItem,
    EventType,
    Release,
    Submission,
    Supersede,
    Withdraw,
)
from dpdesk.project.review.permissions import Permission
from dpdesk.project.review.state import BallotState, ReviewState, Round, Status
from dpdesk.project.review.texts import fingerprint_text
from dpdesk.project.review.trust import RevokedAs, TrustEntry, TrustList
from dpdesk.project.review.votes import (
    CheckDecision,
    Decision,
    FileDecision,
    ItemStatus,
    Outcome,
    Vote,
    VoteProblem,
    vote_problems,
)

__all__ = [
    "SHORTEST_PASSPHRASE",
    "BallotState",
    "Card",
    "CheckDecision",
    "ChecklistItem",
    "Decision",
    "Difference",
    "Event",
    "EventType",
    "Fault",
    "FileDecision",
    "Item",
    "ItemStatus",
    "KeptChoice",
    "KeptDraft",
    "Outcome",
    "Permission",
    "Release",
    "ReviewPicture",
    "ReviewState",
    "RevokedAs",
    "Round",
    "Signed",
    "Status",
    "StoredKey",
    "Submission",
    "Supersede",
    "TrustEntry",
    "TrustList",
    "Vote",
    "VoteProblem",
    "Wish",
    "Withdraw",
    "fingerprint_text",
    "proposed_vote",
    "subjects",
    "vote_problems",
]
