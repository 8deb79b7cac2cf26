/** The sign of the product: a penny with a trace on it. */
export const Logo = () => (
  <svg className="logo" viewBox="0 0 32 32" width="22" height="22" aria-hidden="true">
    <circle cx="16" cy="16" r="15" fill="var(--accent)" />
    <path d="M8 11h16M12 16h12M16 21h8" stroke="var(--on-accent)" strokeWidth="2.6" strokeLinecap="round" />
  </svg>
);
