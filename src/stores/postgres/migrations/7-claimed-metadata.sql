-- As `claim_jobs`, with the metadata of the revision that is claimed, for indexes that filter. Its name is another one,
-- so that servers of the version before go on claiming while they are replaced.
CREATE FUNCTION claim_documents(
  most integer, most_characters bigint, a_owner text, in_hand bigint[], lease bigint
) RETURNS TABLE (
  id text, revision integer, claim bigint, attempts integer, text text, title text, url text, metadata text,
  file text
) LANGUAGE plpgsql SET search_path = agent_server, pg_temp AS $$
#variable_conflict use_column
DECLARE
  taken bigint[];
  pending bigint;
  moment bigint := now_ms();
BEGIN
  WITH due AS MATERIALIZED (
    SELECT jobs.document, jobs.due_at, documents.status,
      coalesce(replacements.characters, documents.characters) AS characters
    FROM jobs
    JOIN documents ON number = jobs.document
    LEFT JOIN replacements ON replacements.document = number
    WHERE jobs.due_at <= moment AND (jobs.claim IS NULL OR jobs.claim <> ALL (in_hand))
    ORDER BY jobs.due_at, jobs.document LIMIT most
    FOR UPDATE OF jobs, documents SKIP LOCKED
  ), sums AS (
    SELECT document, status, row_number() OVER place AS position, sum(characters) OVER place AS sum
    FROM due WINDOW place AS (ORDER BY due_at, document)
  ), few AS (
    SELECT document, status FROM sums WHERE position = 1 OR sum <= most_characters
  ), claimed AS (
    UPDATE jobs SET claim = nextval('claims'), owner = a_owner, due_at = moment + lease
    FROM few WHERE jobs.document = few.document
  )
  SELECT array_agg(document), count(*) FILTER (WHERE status = 'pending') INTO taken, pending FROM few;
  IF taken IS NULL THEN RETURN; END IF;
  UPDATE documents SET status = 'processing', attempts = attempts + 1, updated_at = moment
  WHERE number = ANY (taken);
  PERFORM tally('pending', 'processing', pending, 0, 0);
  RETURN QUERY
    SELECT documents.id, jobs.revision, jobs.claim, documents.attempts, contents.text,
      CASE WHEN new.document IS NULL THEN documents.title ELSE new.title END,
      CASE WHEN new.document IS NULL THEN documents.url ELSE new.url END,
      CASE WHEN new.document IS NULL THEN documents.metadata ELSE new.metadata END,
      CASE WHEN new.document IS NULL THEN documents.file ELSE new.file END
    FROM jobs
    JOIN documents ON number = jobs.document
    JOIN contents ON contents.document = number AND contents.revision = jobs.revision
    LEFT JOIN replacements AS new ON new.document = number
    WHERE jobs.document = ANY (taken)
    ORDER BY jobs.run_at, jobs.document;
END $$;
