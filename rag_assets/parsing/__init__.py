"""A file becomes a Document.

    `discovery`, `paper_lists`    which papers and files there are; `bibliographies`: what names them
    `registry`, `known_files`     the format of each file, told by its content; its hash
    `attempts`                    the best file of each paper becomes its document, in a worker
      `formats`, `shared`, `tables`   one package per format, and what formats share
      `places`                        pages from the PDF beside a file that has none
    `store`                       documents are kept as soon as they are made
    `corpus`                      the parsed index and the blocks; `grobid`: PDFs read by a server

Nothing is imported here, because parse workers import from this package and each pays for every
import.
"""
