"""What identifies a paper: its title, the words of its file's name, its first page. How questions are compared with it
lives in `retrieval`."""
