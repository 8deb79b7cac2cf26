/**
 * What the page's document may do. Calls hold text from anywhere, so nothing in them may ever run
 * or reach another host. Scripts and styles come from the page's own files, images only from data
 * in a call. No script can turn text into markup (Trusted Types without a policy).
 */
const policy: Readonly<Record<string, string>> = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self'",
  'img-src': "'self' data: blob:",
  'connect-src': "'self'",
  'base-uri': "'self'",
  'form-action': "'none'",
  'frame-ancestors': "'none'",
  'require-trusted-types-for': "'script'",
  'trusted-types': "'none'",
};

/** The headers of the page's document. */
export const securityHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': Object.entries(policy)
    .map((directive) => directive.join(' '))
    .join('; '),
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  'x-frame-options': 'DENY',
};
