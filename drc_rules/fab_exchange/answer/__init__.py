"""What a fab sends back: its file as rows, headers, cells, layers and impedance lines."""
