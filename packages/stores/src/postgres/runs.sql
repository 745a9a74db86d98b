-- What led to the last answers. Once released, this file is never changed: see `migrate.ts`.

CREATE TABLE runs (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE,
  answer text COLLATE "C",
  owner text COLLATE "C",
  summary text NOT NULL,
  size bigint NOT NULL,
  created_at bigint NOT NULL,
  json text NOT NULL
);
CREATE INDEX runs_of_owner ON runs (owner) WHERE owner IS NOT NULL;
CREATE INDEX runs_by_age ON runs (created_at);
-- Their sizes are summed without reading their texts.
CREATE INDEX runs_by_size ON runs (number) INCLUDE (size);
CREATE INDEX runs_of_answer ON runs (answer, number) WHERE answer IS NOT NULL;
