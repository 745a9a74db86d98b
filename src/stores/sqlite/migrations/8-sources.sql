-- Where documents were fetched from, and when they are to be fetched again.

CREATE TABLE sources (
  document INTEGER PRIMARY KEY REFERENCES documents (number) ON DELETE CASCADE,
  source TEXT NOT NULL,
  fetch_at INTEGER
) STRICT;
CREATE INDEX sources_due ON sources (fetch_at) WHERE fetch_at IS NOT NULL;
