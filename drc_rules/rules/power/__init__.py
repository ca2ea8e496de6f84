"""PDN: what the copper of declared rails drops, and what its currents do."""
