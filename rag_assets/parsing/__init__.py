"""A file becomes a Document.

    `discovery`, `paper_lists`    find the papers and their files; `bibliographies`: entries of works
    `registry`, `known_files`     the format of each file, by its content, and its hash
    `attempts`                    the best file of each paper becomes its document, in a worker
      `formats`, `shared`, `tables`   one package per format, and what formats share
      `places`                        pages from the PDF beside a file that has none
    `store`                       documents are kept as soon as they are made
    `corpus`                      the parsed index and the blocks; `grobid`: PDFs read by a server

Nothing is imported here: parse workers import from this package, and every import costs each of
them time.
"""
