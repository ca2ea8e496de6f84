"""Stackups that fabs offer by name: one folder of data per fab and date, and what reads it."""
