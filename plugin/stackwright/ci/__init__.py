"""The check as a job of continuous integration: which boards are touched, and what is left behind."""
