# make -f fuzz/build.mk [KIND=driver|libfuzzer|coverage]: build/fuzz/KIND/images, states, calls and calls3. fuzz/run calls it.
#   driver     with fuzz/driver.c and the archive that the Makefile builds; it sees which branches a case takes
#   libfuzzer  with clang's own driver
#   coverage   with fuzz/driver.c and counters for gcov
KIND ?= driver
CORE := fmumbs/core
OUT := build/fuzz/$(KIND)
TARGETS := images states calls calls3
SOURCES := $(filter %.c,$(shell sed 's/\#.*//' $(CORE)/sources.txt))
X86_64 := $(filter x86_64 amd64,$(shell uname -m))

FLAGS := -std=c99 -g -ffp-contract=off -fno-math-errno -fno-trapping-math -Wall -Wextra -Wno-psabi -D_DEFAULT_SOURCE \
  -I$(CORE) -Itests/core $(if $(X86_64),-DFM_HAVE_AVX2)
SANITIZE := -O1 -fsanitize=address,undefined,float-cast-overflow -fno-sanitize-recover=all -fno-omit-frame-pointer \
  $(if $(findstring clang,$(shell $(CC) --version 2>&1)),-D__SANITIZE_ADDRESS__=1)
SCARCE := malloc calloc realloc free # memory that runs out, in fuzz.h
DRIVER := $(OUT)/driver.o
OBJECTS := $(SOURCES:%.c=$(OUT)/%.o)
ifeq ($(KIND),driver)
  OBJECTS := $(OUT)/libfmumbs.a
else ifeq ($(KIND),libfuzzer)
  SANITIZE += -fsanitize=fuzzer-no-link
  LINK := -fsanitize=fuzzer
  DRIVER :=
else ifeq ($(KIND),coverage)
  SANITIZE := -O0 -fsanitize=address # which tells the driver how many bytes are in use
  TRACE := --coverage
  LINK := --coverage
else
  $(error there is no KIND $(KIND))
endif

all: $(TARGETS:%=$(OUT)/%)

$(TARGETS:%=$(OUT)/%): $(OUT)/%: $(OUT)/fuzz_%.o $(DRIVER) $(OBJECTS)
	$(CC) $(SANITIZE) $(LINK) $^ -lm -o $@

$(OUT)/libfmumbs.a: build/sanitized/libfmumbs.a
	@mkdir -p $(@D)
	objcopy $(foreach name,$(SCARCE),--redefine-sym $(name)=scarce_$(name)) $< $@

$(OUT)/%_avx2.o: FLAGS += $(if $(X86_64),-mavx2)
$(OUT)/driver.o: SANITIZE += -O2
$(OUT)/fuzz_calls.o $(OUT)/fuzz_calls3.o: FLAGS += -Wno-format-security -Wno-format-truncation

$(OUT)/%.o: $(CORE)/%.c $(wildcard $(CORE)/*.h $(CORE)/*/*.h $(CORE)/*/*.inc) fuzz/build.mk
	@mkdir -p $(@D)
	$(CC) $(FLAGS) $(foreach name,$(SCARCE),-D$(name)=scarce_$(name)) $(SANITIZE) $(TRACE) -c $< -o $@

$(OUT)/%.o: fuzz/%.c $(wildcard fuzz/*.h) tests/core/images.h $(CORE)/fmumbs.h fuzz/build.mk
	@mkdir -p $(@D)
	$(CC) $(FLAGS) $(SANITIZE) -c $< -o $@

.PHONY: all
.PRECIOUS: $(OUT)/%.o
