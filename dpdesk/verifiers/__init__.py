"""Checking releases by code that made none of them.

Modules here import ``dpdesk.core`` and each other, nothing else: no planner, no search, no noise,
no reader of files. Whatever they cannot find out by themselves (the table as it was published, the
source, sentences and pages made again) is handed to them. An import contract holds them to it;
resources/docs/verification.md lists what they trust all the same.
"""
