import { describeAccepted } from '../../../../test/contracts/accepted.contract.ts'
import { describeCollectionNames } from '../../../../test/contracts/collection-names.contract.ts'
import { describeConversationStore } from '../../../../test/contracts/conversation-store.contract.ts'
import { describeDocumentStore } from '../../../../test/contracts/document-store.contract.ts'
import { describeEvaluationStore } from '../../../../test/contracts/evaluation-store.contract.ts'
import { describeFeedbackStore } from '../../../../test/contracts/feedback-store.contract.ts'
import { describeKeyStore } from '../../../../test/contracts/key-store.contract.ts'
import { describeOutbox } from '../../../../test/contracts/outbox.contract.ts'
import { describePeopleStore } from '../../../../test/contracts/people-store.contract.ts'
import { describeQuestionStore } from '../../../../test/contracts/question-store.contract.ts'
import { describeRunStore } from '../../../../test/contracts/run-store.contract.ts'
import { describeUsageStore } from '../../../../test/contracts/usage-store.contract.ts'
import { describeVectorReplacement } from '../../../../test/contracts/vector-replacement.contract.ts'
import { createSqliteData } from './store-data.ts'

describeDocumentStore('SQLite', createSqliteData)
describeKeyStore('SQLite', createSqliteData)
describeUsageStore('SQLite', createSqliteData)
describeCollectionNames('SQLite', createSqliteData)
describeConversationStore('SQLite', createSqliteData)
describeQuestionStore('SQLite', createSqliteData)
describePeopleStore('SQLite', createSqliteData)
describeEvaluationStore('SQLite', createAgeingData)
describeFeedbackStore('SQLite', createSqliteData)
describeOutbox('SQLite', createSqliteData)
describeAccepted('SQLite', createSqliteData)
describeVectorReplacement('SQLite', createSqliteData)
describeRunStore('SQLite', createSizedData)

async function createAgeingData() {
  const data = await createSqliteData()
  const age = async (milliseconds: number) => {
    using database = data.database()
    database.exec(`UPDATE evaluations SET updated_at = updated_at - ${milliseconds}`)
  }
  return { ...data, age }
}

async function createSizedData() {
  const data = await createSqliteData()
  const resize = async (characters: number) => {
    using database = data.database()
    database.exec(`UPDATE runs SET size = ${characters}`)
  }
  return { ...data, resize }
}
