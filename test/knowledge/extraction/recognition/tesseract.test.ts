import { describeRecognition } from '../../../contracts/recognition.contract.ts'

describeRecognition('Tesseract', { kind: 'tesseract', languages: ['eng'] })
