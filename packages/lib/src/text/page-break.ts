/** A line of its own between two pages in the text of a file: a form feed, as in plain text of other programs. */
export const PAGE_BREAK = '\f\n'
