"""What a standard refers a channel to: signals, packages, equalisers and noise of both ends.

Names in brackets are those of IEEE 802.3, Annex 93A.
"""

from stackup_lib.core.frozen import Frozen


class Steps(Frozen):
    """Values of a setting from `least` to 0, `step` apart."""

    least: float
    step: float

    def values(self) -> tuple[float, ...]:
        """Return them, 0 last."""
        count = round(-self.least / self.step)
        return tuple(0.0 - self.step * k for k in range(count, -1, -1))


class ReferencePackage(Frozen):
    """A package as capacitance, line and capacitance, the same at both ends.

    Attributes:
        device_pf: at the die, per trace (C_d).
        pad_pf: at the board, per trace (C_p).
        lengths_mm: of its line, one per test case (z_p).
        near_mm: of the line of a near-end aggressor's transmitter, in all test cases (z_p of NEXT).
        ohm: differential impedance of the line (Z_c).
        loss_per_mm: without frequency (gamma_0).
        loss_per_mm_root_ghz: with its root (a_1).
        loss_per_mm_ghz: with frequency (a_2).
        ns_per_mm: delay (tau).
        termination_ohm: of the die, per trace (R_d).
    """

    device_pf: float
    pad_pf: float
    lengths_mm: tuple[float, ...]
    near_mm: float
    ohm: float
    loss_per_mm: float
    loss_per_mm_root_ghz: float
    loss_per_mm_ghz: float
    ns_per_mm: float
    termination_ohm: float


class ReferenceEqualiser(Frozen):
    """Taps of the transmitter, filters of the receiver, taps of its decision feedback.

    Attributes:
        pre: tap before the cursor, c(-1).
        post: tap behind it, c(1).
        least_cursor: smallest c(0) = 1 - |c(-1)| - |c(1)|.
        receiver_ghz: bandwidth of the receiver (f_r).
        gain_db: of the CTLE at DC (g_DC).
        zero_ghz: of the CTLE (f_z).
        poles_ghz: of the CTLE (f_p1, f_p2).
        feedback_taps: number of taps of the decision feedback (N_b).
        most_feedback: of one tap, of the cursor (b_max).
    """

    pre: Steps
    post: Steps
    least_cursor: float
    receiver_ghz: float
    gain_db: Steps
    zero_ghz: float
    poles_ghz: tuple[float, float]
    feedback_taps: int
    most_feedback: float


class ReferenceChannel(Frozen):
    """All that a channel's operating margin needs apart from the channel.

    Attributes:
        title: of the interface.
        roles: kinds of channel that it is for, keys of `board_loss_db`; the empty one is a channel of no declared kind.
        symbol_gbd: symbols per nanosecond (f_b).
        levels: of a symbol (L).
        level_mismatch: ratio (R_LM).
        step_ghz: largest distance of frequencies.
        amplitude_v: differential peak of the transmitter (A_v).
        far_amplitude_v, near_amplitude_v: of a far-end and a near-end aggressor (A_fe, A_ne).
        transmitter_snr_db: its signal to noise (SNR_TX).
        dual_dirac_ui: peak of its deterministic jitter (A_DD).
        random_jitter_ui: its random jitter, RMS (sigma_RJ).
        noise_v2_per_ghz: at the receiver, one-sided (eta_0).
        error_ratio: of the detector (DER_0).
        least_com_db: that is required of a channel.
        package, equaliser: of both ends.
    """

    title: str
    roles: tuple[str, ...]
    symbol_gbd: float
    levels: int
    level_mismatch: float
    step_ghz: float
    amplitude_v: float
    far_amplitude_v: float
    near_amplitude_v: float
    transmitter_snr_db: float
    dual_dirac_ui: float
    random_jitter_ui: float
    noise_v2_per_ghz: float
    error_ratio: float
    least_com_db: float
    package: ReferencePackage
    equaliser: ReferenceEqualiser
