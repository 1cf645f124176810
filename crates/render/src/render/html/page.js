document.documentElement.classList.add('scripted');
// Every command can be copied.
for (const command of document.querySelectorAll('.command')) {
  const text = command.querySelector('pre');
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  button.textContent = 'Copy';
  button.addEventListener('click', () => {
    const range = document.createRange();
    range.selectNodeContents(text);
    const done = () => { button.textContent = 'Copied'; setTimeout(() => { button.textContent = 'Copy'; }, 2000); };
    if (navigator.clipboard) {
      navigator.clipboard.writeText(text.textContent).then(done);
    } else {
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      if (document.execCommand('copy')) done();
    }
  });
  command.querySelector('.bar').append(button);
}
// A picture that goes on beside the page says so.
const picture = document.querySelector('.picture');
function fit() { picture.classList.toggle('wider', picture.scrollWidth > picture.clientWidth); }
if (picture) { fit(); addEventListener('resize', fit); }
const search = document.getElementById('search');
const boxes = [...document.querySelectorAll('.tools input[type=checkbox]')];
const cards = [...document.querySelectorAll('article')];
const count = document.getElementById('shown');
function choose() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const kinds = new Set(boxes.filter((box) => box.checked).map((box) => box.value));
  let shown = 0;
  for (const card of cards) {
    const text = card.textContent.toLowerCase();
    const fits = kinds.has(card.dataset.severity) && words.every((word) => text.includes(word));
    card.hidden = !fits;
    shown += fits ? 1 : 0;
  }
  count.textContent = shown + ' of ' + cards.length + ' findings';
}
// Where nothing was found there is nothing to choose from.
if (search) {
  search.addEventListener('input', choose);
  boxes.forEach((box) => box.addEventListener('change', choose));
  document.addEventListener('keydown', (event) => {
    if (event.key === '/' && document.activeElement !== search) { event.preventDefault(); search.focus(); }
  });
  document.getElementById('unfold').addEventListener('click', () => document.querySelectorAll('article details').forEach((one) => { one.open = true; }));
  document.getElementById('fold').addEventListener('click', () => document.querySelectorAll('article details').forEach((one) => { one.open = false; }));
  choose();
}
