// A link to a scene opens it in place of the picture in its paragraph; with a key held, or without this, as any link.
document.addEventListener("click", (event) => {
  const link = event.target.closest("a.scene");
  if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  const frame = document.createElement("iframe"), picture = link.parentElement.querySelector("img");
  frame.className = "scene";
  frame.src = link.href;
  frame.title = picture ? picture.alt : document.title;
  picture?.remove();
  link.replaceWith(frame);
  frame.focus();
});
