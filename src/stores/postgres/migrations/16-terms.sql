-- In how many chunks of a document each term stands, for an index that cannot tell. Triggers enter what comes and what
-- goes, in the transaction that serves or removes it; the sum of the entries is that of all documents. Entries are only
-- ever added and folded, so that no two ingestions wait for each other. Terms are 32-bit numbers, little-endian.

CREATE TABLE document_terms (
  document bigint NOT NULL REFERENCES documents ON DELETE CASCADE,
  analyser text COLLATE "C" NOT NULL,
  chunks bigint NOT NULL,
  length bigint NOT NULL,
  terms bytea NOT NULL,
  holding bytea NOT NULL,
  PRIMARY KEY (document, analyser)
);
ALTER TABLE document_terms ALTER COLUMN terms SET STORAGE EXTERNAL;

CREATE TABLE term_entries (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  analyser text COLLATE "C" NOT NULL,
  sign integer NOT NULL,
  chunks bigint NOT NULL,
  length bigint NOT NULL,
  terms bytea NOT NULL,
  holding bytea NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
ALTER TABLE term_entries ALTER COLUMN terms SET STORAGE EXTERNAL;
CREATE INDEX term_entries_of_analyser ON term_entries (analyser);

CREATE FUNCTION enter_terms() RETURNS trigger LANGUAGE plpgsql SET search_path = agent_server, pg_temp AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO term_entries (analyser, sign, chunks, length, terms, holding)
    VALUES (new.analyser, 1, new.chunks, new.length, new.terms, new.holding);
  ELSE
    INSERT INTO term_entries (analyser, sign, chunks, length, terms, holding)
    VALUES (old.analyser, -1, old.chunks, old.length, old.terms, old.holding);
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER terms_entered AFTER INSERT OR DELETE ON document_terms FOR EACH ROW EXECUTE FUNCTION enter_terms();

CREATE FUNCTION supersede_terms() RETURNS trigger LANGUAGE plpgsql SET search_path = agent_server, pg_temp AS $$
BEGIN
  DELETE FROM document_terms WHERE document = new.number;
  RETURN NULL;
END $$;
CREATE TRIGGER terms_superseded AFTER UPDATE OF served_revision ON documents
FOR EACH ROW WHEN (new.served_revision IS DISTINCT FROM old.served_revision) EXECUTE FUNCTION supersede_terms();

-- Counts a document that has just been completed: passes the keys on, which are nothing where it was not.
CREATE FUNCTION with_terms(
  keys bigint[], a_id text, a_analyser text, a_chunks bigint, a_length bigint, a_terms bytea, a_holding bytea
) RETURNS bigint[] LANGUAGE plpgsql SET search_path = agent_server, pg_temp AS $$
BEGIN
  IF keys IS NOT NULL AND a_analyser IS NOT NULL THEN
    INSERT INTO document_terms (document, analyser, chunks, length, terms, holding)
    SELECT number, a_analyser, a_chunks, a_length, a_terms, a_holding FROM documents WHERE id = a_id;
  END IF;
  RETURN keys;
END $$;

-- Puts the sum of entries in their place, and answers its number; nothing where one of them is gone.
CREATE FUNCTION fold_terms(
  folded bigint[], a_analyser text, a_chunks bigint, a_length bigint, a_terms bytea, a_holding bytea
) RETURNS bigint LANGUAGE plpgsql SET search_path = agent_server, pg_temp AS $$
DECLARE
  there bigint;
  entered bigint;
BEGIN
  SELECT count(*) INTO there FROM (
    SELECT FROM term_entries WHERE number = ANY (folded) ORDER BY number FOR UPDATE
  ) AS held;
  IF there <> cardinality(folded) THEN RETURN NULL; END IF;
  DELETE FROM term_entries WHERE number = ANY (folded);
  INSERT INTO term_entries (analyser, sign, chunks, length, terms, holding)
  VALUES (a_analyser, 1, a_chunks, a_length, a_terms, a_holding) RETURNING number INTO entered;
  RETURN entered;
END $$;
