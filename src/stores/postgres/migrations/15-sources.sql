-- Where documents were fetched from, and when they are to be fetched again.

CREATE TABLE sources (
  document bigint PRIMARY KEY REFERENCES documents (number) ON DELETE CASCADE,
  source text NOT NULL,
  fetch_at bigint
);
CREATE INDEX sources_due ON sources (fetch_at) WHERE fetch_at IS NOT NULL;
