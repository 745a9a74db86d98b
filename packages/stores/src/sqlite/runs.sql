-- What led to the last answers. Once released, this file is never changed: see `migrate.ts`.

CREATE TABLE runs (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  answer TEXT,
  owner TEXT,
  summary TEXT NOT NULL,
  size INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  json TEXT NOT NULL
) STRICT;
CREATE INDEX runs_of_owner ON runs (owner) WHERE owner IS NOT NULL;
CREATE INDEX runs_of_answer ON runs (answer, number) WHERE answer IS NOT NULL;
-- By which room is made without a look at the long texts.
CREATE INDEX runs_by_size ON runs (number, size);
CREATE INDEX runs_by_age ON runs (created_at);
