import { describeAccepted } from '../../contracts/accepted.contract.ts'
import { describeConversationStore } from '../../contracts/conversation-store.contract.ts'
import { describeDocumentStore } from '../../contracts/document-store.contract.ts'
import { describeFeedbackStore } from '../../contracts/feedback-store.contract.ts'
import { describeKeyStore } from '../../contracts/key-store.contract.ts'
import { describeQuestionStore } from '../../contracts/question-store.contract.ts'
import { describeVectorReplacement } from '../../contracts/vector-replacement.contract.ts'
import { createSqliteData } from './store-data.ts'

describeDocumentStore('SQLite', createSqliteData)
describeKeyStore('SQLite', createSqliteData)
describeConversationStore('SQLite', createSqliteData)
describeQuestionStore('SQLite', createSqliteData)
describeFeedbackStore('SQLite', createSqliteData)
describeAccepted('SQLite', createSqliteData)
describeVectorReplacement('SQLite', createSqliteData)
