-- What was accepted of servers of tools and of sources of skills, the same for all servers on the database.

CREATE TABLE ledgers (
  name text COLLATE "C" PRIMARY KEY,
  version bigint NOT NULL,
  content text NOT NULL
);

-- Under a digest of the source, as sources may be longer than a key of an index.
CREATE TABLE skill_copies (
  source text COLLATE "C" PRIMARY KEY,
  digest text NOT NULL,
  bytes bytea NOT NULL
);
ALTER TABLE skill_copies ALTER COLUMN bytes SET STORAGE EXTERNAL;
