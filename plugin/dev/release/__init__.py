"""What a release is made of: packages, checksums, bill of materials, KiCad's repository; refused without an owner."""
