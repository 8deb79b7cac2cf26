import type { Message } from '../message.ts';
import { contributorText, previousText, thresholdText, titleText, valueText, windowText } from './text.ts';

/** Slack's bounds on texts, in characters (https://docs.slack.dev/reference/block-kit/blocks). */
const maxHeader = 150;
const maxField = 2000;
const maxSection = 3000;

const cut = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most - 1)}…` : text;

/**
 * A text without what Slack takes for links and mentions
 * (https://docs.slack.dev/messaging/formatting-message-text#escaping).
 */
const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll(/\s+/g, ' ');

/** Texts with marks, in which bare URLs and names are no links. */
const marked = (text: string, most: number) => ({
  type: 'mrkdwn',
  text: cut(text, most),
  verbatim: true,
});

/** A link as Slack writes it. A pipe or an angle bracket in the URL would end it. */
const linked = (url: string, text: string): string =>
  `<${url.replaceAll('|', '%7C').replaceAll('<', '%3C').replaceAll('>', '%3E')}|${escaped(text)}>`;

const field = (name: string, text: string) => marked(`*${escaped(name)}*\n${escaped(text)}`, maxField);

const section = (text: string) => ({ type: 'section', text: marked(text, maxSection) });

/** The longest name of a contributor, in characters, so that a link is never cut. */
const maxLabel = 200;

/** A message as Slack's incoming webhooks take it, and many that are like them. */
export const slackMessage = (message: Message): object => {
  const { project_id, alert, metric, contributors, link } = message;
  const title = titleText(message);
  const note = previousText(message);
  const most = contributors.map((contributor) => {
    const label = cut(
      contributorText({ ...contributor, label: cut(contributor.label, maxLabel) }),
      maxLabel + 40,
    );
    return `• ${linked(contributor.link, label)}`;
  });
  return {
    // What notifications show, and whoever knows no blocks.
    text: escaped(`${title} in ${project_id}: ${metric} is ${valueText(message)}`),
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: cut(title, maxHeader), emoji: false } },
      {
        type: 'section',
        fields: [
          field('Project', project_id),
          field('Alert', alert.name),
          field(metric, valueText(message)),
          field('Threshold', thresholdText(message)),
          field('Window', windowText(message)),
        ],
      },
      ...(most.length > 0 ? [section(`*What contributes most*\n${most.join('\n')}`)] : []),
      section(`${note && `${note} `}${linked(link, 'Look at it')}`),
    ],
  };
};
