# Two doors for visitors; everything else is ./dev (see CONTRIBUTING.md).
.PHONY: demo test

demo:
	./dev demo $(ARGS)

test:
	./dev ci
