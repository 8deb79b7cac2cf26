export { agentSpan, isFromAgent, isOfAgent, spansLeftOut, storeFacts } from './meeting.ts';
