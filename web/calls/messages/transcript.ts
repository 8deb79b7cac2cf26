import type { Message } from '../../../api/shared/conversation.ts';
import { valueText } from '../../ui/diff.ts';

/** What a message says, as lines: its texts, the tools that it calls, and what they gave. */
export const messageText = ({ parts }: Message): string =>
  parts
    .map((part) => {
      if (part.kind === 'text') return part.text;
      if (part.kind === 'call') return valueText({ calls: part.name, with: part.input });
      if (part.kind === 'result') return valueText(part.output);
      if (part.kind === 'other') return valueText(part.value);
      if (part.kind === 'file') return `file ${part.file.name ?? part.file.type ?? ''}`.trim();
      return part.kind === 'image' ? `image ${part.url.slice(0, 100)}` : '';
    })
    .filter((text) => text !== '')
    .join('\n');

/** Messages below each other, each with its role. */
export const formatTranscript = (messages: readonly Message[]): string =>
  messages.map((message) => `${message.role}:\n${messageText(message)}`).join('\n\n');
