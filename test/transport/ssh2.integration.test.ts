import { contractCases } from './contract-cases.ts'

contractCases('ssh2')
