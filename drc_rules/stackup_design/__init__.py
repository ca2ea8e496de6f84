"""Stackups that meet what a board needs: goals, candidates, plans, fitness."""
