"""The values of reviews, keys and the list of trusted keys, in one place for the window."""

from __future__ import annotations

from dpdesk.app.review.acting import ActionRequest, Signed
from dpdesk.app.review.protocols import ProtocolFacts, why_not_lock
from dpdesk.app.review.review_picture import ReviewPicture
from dpdesk.project.review.cards import Card
from dpdesk.project.review.checklist import Checklist, Difference
from dpdesk.project.review.drafts import KeptChoice, KeptDraft, subjects
from dpdesk.project.review.events import (
    ChecklistItem,
    Event,
    EventType,
    Fault,
    Mode,
    Release,
    Submission,
    Supersede,
    Withdraw,
)
from dpdesk.project.review.keys import SHORTEST_PASSPHRASE, Signer, StoredKey
from dpdesk.project.review.making import proposed_vote
from dpdesk.project.review.permissions import Permission
from dpdesk.project.review.questions import Item
from dpdesk.project.review.state import BallotState, ReviewState, Round, Status
from dpdesk.project.review.texts import fingerprint_text, fold_person
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
    "ActionRequest",
    "BallotState",
    "Card",
    "CheckDecision",
    "Checklist",
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
    "Mode",
    "Outcome",
    "Permission",
    "ProtocolFacts",
    "Release",
    "ReviewPicture",
    "ReviewState",
    "RevokedAs",
    "Round",
    "Signed",
    "Signer",
    "Status",
    "StoredKey",
    "Submission",
    "Supersede",
    "TrustEntry",
    "TrustList",
    "Vote",
    "VoteProblem",
    "Withdraw",
    "fingerprint_text",
    "fold_person",
    "proposed_vote",
    "subjects",
    "vote_problems",
    "why_not_lock",
]
