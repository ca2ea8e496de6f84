"""What a symbol becomes on its way through a channel: pulse responses and the eye that is left of them.

A channel is a voltage transfer function over frequency; where it comes from is not asked here.
"""
