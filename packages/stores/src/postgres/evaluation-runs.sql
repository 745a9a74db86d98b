-- What was measured with the judged questions. Once released, this file is never changed: see `migrate.ts`.

CREATE TABLE evaluations (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE,
  state text COLLATE "C" NOT NULL,
  json text NOT NULL,
  asked bigint NOT NULL,
  total bigint NOT NULL,
  error text,
  measures text,
  report text,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL
);
