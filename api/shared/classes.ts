/*
 * The classes of objects that mean something to the service, as their `_type` names them. Nothing is
 * imported here, since browsers load this as it is.
 */

export const alertClass = 'Alert';

export const evaluatorClass = 'Evaluator';

/** A project's limits. */
export const limitsClass = 'Limits';

/** How long a project keeps what it holds. */
export const retentionClass = 'Retention';

/** What people fill in: the same as in Weave. */
export const annotationSpecClass = 'AnnotationSpec';

/** Queues of calls to review. */
export const reviewQueueClass = 'ReviewQueue';

/** Which labels of a project take the role `admin`. */
export const promptLabelsClass = 'PromptLabels';

/** The classes that versions of prompts have, as Weave's SDKs name them and their bases. */
export const promptClasses = ['Prompt', 'MessagesPrompt', 'StringPrompt'] as const;

/** Charts that a project keeps side by side. */
export const dashboardClass = 'Dashboard';

/** Whether a project allows public links. */
export const sharingClass = 'Sharing';

/** Public links to traces. */
export const publicLinkClass = 'PublicLink';
