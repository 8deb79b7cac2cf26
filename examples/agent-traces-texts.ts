/**
 * The texts in the traces of `agent-traces.ts`: customers' messages, the model's replies and
 * thoughts. Each `{word}` stands for one of `words`.
 */

/** At least one text, so that a random one can always be picked. */
export type Texts = readonly [string, ...string[]];

/** The replacements of each `{word}`. They may contain further `{words}`. */
export const words: Readonly<Record<string, Texts>> = {
  bike: [
    'city bike',
    'gravel bike',
    'cargo bike',
    'folding bike',
    'mountain bike',
    'touring bike',
    'e-bike',
    '{colour} tandem',
  ],
  part: [
    'rear derailleur',
    'front wheel',
    'brake pads',
    'hub dynamo',
    'bottom bracket',
    'saddle',
    'chain',
    'battery lock',
    'headset',
    'display',
  ],
  colour: ['black', 'silver', 'olive', 'dark red', 'white', 'petrol'],
  problem: [
    'creaks under load',
    'came with a deep scratch',
    'does not fit the frame',
    'stopped working in the rain',
    'has too much play',
    'is not the one I ordered',
    'slips in the {number}th gear',
    '不太好用',
  ],
  when: [
    'since last {day}',
    'for {number} days now',
    'ever since the delivery on {month} {number}',
    'after {number} km',
    'on my way to work this morning',
  ],
  day: ['Monday', 'Tuesday', 'Thursday', 'Friday', 'Saturday'],
  month: ['March', 'April', 'May', 'June', 'July', 'September', 'October'],
  city: ['Leipzig', 'Gent', 'Lyon', 'Utrecht', 'Aarhus', 'Torino', 'Kraków', 'Málaga', 'Graz', 'Bath'],
  street: ['Mill Lane', 'Lindenallee', 'Rue des Tanneurs', 'Kanaalstraat', 'Station Road', 'Via Po'],
  first: [
    'Ada',
    'Noor',
    'Mateo',
    'Ingrid',
    'Omar',
    'Yuki',
    'Chiara',
    'Lars',
    'Amélie',
    'Piotr',
    'Lena',
    'Hugo',
  ],
  last: ['Brandt', 'Okafor', 'Rossi', 'Nguyen', 'de Vries', 'Kowalska', 'García', 'Lindholm', 'Moreau'],
};

/** A customer's first message. */
export const openings: Texts = [
  "Hi! The {part} of my {bike} {problem} {when}. Can you help me with that? I'm a bit lost here.",
  'Hello, I need to return the {part} from order {order}, because it {problem}.',
  'Good morning – I would like to have my {bike} repaired: the {part} {problem} {when}.',
  '你好! My {bike} should have come on {day}, and {number} days later it still is not here in {city}.',
  'Hello! I want to change the address of my order {order} to {number} {street} in {city}, please.',
  'Hi, I was charged {price} € for a {part} that I never asked for.',
];

/** A customer's later messages. */
export const answers: Texts = [
  'Yes, please go ahead; {price} € is fine with me.',
  'My name is {first} {last}, and the order is {order}. It was sent to {city}.',
  'It {problem} {when}, and so does the {part}. I would rather have the {price} € back on the card that I paid with.',
  'No, {day} does not suit me. Could you look whether there is anything free on {month} {number}?',
  'Do you have the {part} in {colour} as well? If it costs less than {price} €, I will take {number} of them.',
  'I understand. Could you please check whether the warranty covers it? The shop in {city} told me that it would.',
  'Yes.',
  'About {number}{number}0 km, mostly to work and back. The frame number ends in {number}{number}, and it {problem} when it is cold.',
  'Hm, {price} € is more than I thought. What would it cost in {city}, and could somebody look at the {part} before {day}?',
  "I don't have the number at hand right now. Could you find it by my name, {first} {last}, or by my address, {number} {street}, {city}?",
];

/** A customer's last message. */
export const farewell = "That's all, thank you!";

/** Sentences of the model's replies, which are long. */
export const replies: Texts = [
  'I have found your order {order} from {month} {number}: one {bike} in {colour}, sent to {number} {street}, {city}.',
  'To look into this I need your name and the number of the order, which is on the invoice of {month} {number}.',
  'The {part} {problem}, you say, and that is covered by the warranty, so the repair costs you nothing.',
  'I can book the repair of the {part} for {day}, {month} {number}, in our workshop in {city}; it takes about {number} hours.',
  'The refund of {price} € goes to the card that you paid with and takes three to five working days.',
  'Here is what I would do:\n\n1. **Part**: {part}, {colour}, {price} €\n2. **Work**: {number} × 15 minutes, {price} €\n3. **When**: {day}, {month} {number}, {city}\n\nShall I go ahead (yes/no)?',
  'I am sorry that the {part} {problem}; that should not happen after {number} km.',
  'The {colour} one is sold out in {city}. There are {number} left in {city}, and the next delivery of the {part} is planned for {month}.',
  'As far as I can see, {first} {last} signed for the parcel on {day}, {month} {number}, at the door of {number} {street}.',
  'Unfortunately the {part} wears, and is excluded after the first 500 km; I can offer it to you for {price} € in the place of {price} €.',
  'Could you tell me the frame number, how far you have ridden, and whether it {problem} only when you brake?',
  'Is there anything else that I can do for you, {first}?',
];

/** Thoughts of the model, as inputs of the tool `think`. */
export const thoughts: Texts = [
  'The customer says that the {part} {problem} {when}. The order {order} is from {month} {number}, so it is within the warranty of 24 months; wear and tear is excluded, which may hold for a {part}. I should ask what happened, before I book anything for {price} €.',
  'The price in the stock system is {price} €, but the invoice says {price} €. The difference may be the delivery to {city}. I have to list both and to wait for a yes.',
  'The order {order} has left the warehouse for {city} on {day}, so it cannot be changed any more: it can only be returned within 30 days, with the {part} unused.',
];

/** Results of tool calls that changed or found nothing. */
export const refusals: Texts = ['Error: order not found', 'Error: customer not found', '[]', '{price}'];

/** The exception of a failed tool call, with the line that raised it. */
export const toolFailure = 'OrderNotFound: no such order\n  at find_order (tools.py:41)';

const rules: Readonly<Record<string, readonly string[]>> = {
  'Before you act': [
    'Confirm the name and the order number before you look anything up. Without the number you may search by address, but then ask for the last four digits of the card as well.',
    'List every change with its price, and wait for an explicit yes, before you book a repair, change an order or pay anything back. Silence, a smiley or "sounds good" is not a yes.',
    'Make one tool call at a time, and do not answer the customer in the same message. If a search may take a moment, say so beforehand.',
    'Give neither opinions nor advice about other shops, and tell nothing that was neither asked for nor found by a tool. Deny whatever goes against this policy, in one friendly sentence.',
    'Hand over to a colleague only when the request is outside what your tools can do; note in two sentences what was found, so that nobody has to be asked twice.',
  ],
  Orders: [
    'An order has a number, a customer, an address, lines with article, quantity and price, a payment history and a status: open, packed, shipped, delivered or returned.',
    'While it is open, articles may be exchanged for others of the same kind, colours included, and the address may change within the same country. The difference in price is charged or refunded at once, to one payment method.',
    'Once it is packed, only the address can still change, and only until 14:00 on that day. What has left the warehouse cannot be changed any more, by anybody.',
    'Never promise a delivery date that the stock system does not show. If it shows a week, name the week; if it shows nothing, offer to write as soon as the parcel is on its way.',
  ],
  'Returns and refunds': [
    'Goods go back within 30 days of delivery. Frames must be unridden, batteries have their seal, helmets are excluded for reasons of hygiene. Above 50 € the label is free; otherwise it costs 4.90 €, taken off the refund.',
    'Refunds go to the payment method of the order and to no other, in three to five working days after the warehouse has seen the parcel; for vouchers, a new one of the same value is sent by e-mail at once.',
    'Regular members get a refund or an exchange. Silver and gold members may choose, in the place of either, a voucher worth a tenth more, provided they ask for it: do not bring it up yourself.',
    'If a delivery was late by more than seven days and the customer complains about it, confirm the dates first; then you may offer 10 € for an accessory, 25 € for a part and 50 € for a bicycle, once per order.',
  ],
  Repairs: [
    'Within 24 months of purchase faults are repaired for free. Chains, tyres, brake pads and cables wear, and are excluded unless they broke within the first 500 km. Accidents and work done elsewhere end the warranty of the part concerned.',
    'A workshop needs the frame number, the kilometres ridden and a description of the noise, the play or the error code. Ask for all three at once, not one after the other.',
    'Book the next free slot of the branch that is nearest to the address, on weekdays between eight and six. Cargo bikes are only taken in Utrecht, Graz and Leipzig; e-bikes need their key and their charger.',
    'An estimate is binding up to 150 €. Above that the mechanic telephones before going on, and a customer who cannot be reached gets the bicycle back as it was, for 25 €, which are credited if it is repaired later.',
  ],
  'Membership and data': [
    'Silver begins at 600 € in twelve months, gold at 1,800 €. The status is in the profile; do not compute it yourself, and do not discuss how it came about.',
    'E-mail, telephone and address may be changed on request after two facts of the profile were confirmed. The name and the date of birth cannot: a colleague needs to see a document for that.',
    'Speak the language that the customer writes in. Use short paragraphs, name prices in euros with two decimals, and end with the one question that has to be answered next.',
  ],
};

/** One sentence per branch, alike as the rows of a table are. */
const branches = (words.city ?? []).map(
  (city, i) =>
    `${city}: open on weekdays from 9:00 to 18:00 and on Saturdays from 10:00 to ${14 + (i % 3)}:00, workshop closed on ${i % 2 ? 'Wednesdays' : 'Mondays'}, closed on public holidays of the country, no repairs without an appointment, telephone extension ${410 + 7 * i}.`,
);

/**
 * The system message, in Markdown. It is long, and every model call of a conversation repeats it.
 */
export const policy = `# Bicycle shop support policy\n\nThe current time is 2026-10-01 09:00 CEST.\n\nAs a support agent of a bicycle shop with a web shop, ten branches and a workshop in each, you can help customers to find, change and return orders, and to have bicycles repaired.\n\n${Object.entries(
  {
    ...rules,
    Branches: branches,
  },
)
  .map(([title, ofTitle]) => `## ${title}\n\n${ofTitle.map((rule) => `- ${rule}`).join('\n\n')}`)
  .join('\n\n')}\n`;
