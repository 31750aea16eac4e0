// A second factor for the lab: asks for a code with a prompt of its own, and takes what the file in its argument holds.
// The few names of libpam that it needs are declared here, so that no headers have to be installed.
#include <stdlib.h>
#include <string.h>

enum { CONV_ITEM = 5, ECHO_OFF = 1, SUCCESS = 0, AUTH_ERR = 7 };

struct message {
  int style;
  const char *text;
};
struct response {
  char *text;
  int code;
};
struct conversation {
  int (*ask)(int count, const struct message **messages, struct response **answers, void *data);
  void *data;
};

int pam_get_item(const void *handle, int item, const void **value);

int pam_sm_authenticate(void *handle, int flags, int count, const char **words) {
  (void)flags;
  const void *item = NULL;
  if (count < 1 || pam_get_item(handle, CONV_ITEM, &item) != SUCCESS || item == NULL) return AUTH_ERR;
  const struct conversation *conversation = item;
  const struct message question = {ECHO_OFF, "Verification code: "};
  const struct message *questions[] = {&question};
  struct response *answer = NULL;
  if (conversation->ask(1, questions, &answer, conversation->data) != SUCCESS || answer == NULL) return AUTH_ERR;
  const int is_right = answer->text != NULL && strcmp(answer->text, words[0]) == 0;
  free(answer->text);
  free(answer);
  return is_right ? SUCCESS : AUTH_ERR;
}

int pam_sm_setcred(void *handle, int flags, int count, const char **words) {
  (void)handle, (void)flags, (void)count, (void)words;
  return SUCCESS;
}
