/** A thumb, drawn: not every device has a font with one. */
export const Thumb = ({ up }: { up: boolean }) => (
  <svg
    className="thumb"
    viewBox="0 0 20 20"
    width="16"
    height="16"
    aria-hidden="true"
    style={up ? undefined : { transform: 'scaleY(-1)' }}
  >
    <path
      d="M2.5 9h3v8h-3zM7.5 9l3.3-6.3c1.4 0 2.2 1 1.9 2.4L12 8h4.2c1.1 0 1.8 1 1.5 2l-1.5 5.4c-.3 1-1.1 1.6-2.1 1.6H7.5z"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeLinejoin="round"
    />
  </svg>
);
