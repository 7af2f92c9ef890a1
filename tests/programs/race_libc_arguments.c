/* Memory that is passed to functions of libc is read and written like any other: one thread writes the
 * text, the other passes it on. With -DORDERED the writer has ended before.
 * EXPECT -DCALL=strlen(text) all error kind=data-race
 * EXPECT -DCALL=strcmp(text,"abc") all error kind=data-race
 * EXPECT -DCALL=strncmp("abd",text,3) all error kind=data-race
 * EXPECT -DCALL=memcmp(text,"abc",3) all error kind=data-race
 * EXPECT -DCALL=strchr(text,'c')!=0 all error kind=data-race
 * EXPECT -DCALL=strrchr(text,'c')!=0 all error kind=data-race
 * EXPECT -DCALL=strstr(text,"c")!=0 all error kind=data-race
 * EXPECT -DCALL=strcspn(text,"c") all error kind=data-race
 * EXPECT -DCALL=(free(strdup(text)),1) all error kind=data-race
 * EXPECT -DCALL=(strtok(text,"b"),1) all error kind=data-race
 * EXPECT -DCALL=puts(text) all error kind=data-race
 * EXPECT -DCALL=printf("%d%s",1,text) all error kind=data-race
 * EXPECT -DCALL=fputs(text,stderr) all error kind=data-race
 * EXPECT -DCALL=fwrite(text,1,3,stdout) all error kind=data-race
 * EXPECT -DCALL=snprintf(buffer,9,"%5.3s",text) all error kind=data-race
 * EXPECT -DCALL=snprintf(text,9,"%d",12) all error kind=data-race
 * EXPECT -DCALL=sprintf(text,"%.1f",.5) all error kind=data-race
 * EXPECT -DCALL=atoi(text+1) all error kind=data-race
 * EXPECT -DCALL=(int)strtol(text,0,36) all error kind=data-race
 * EXPECT -DCALL=sscanf(text,"%9s",buffer) all error kind=data-race
 * EXPECT -DCALL=(int)write(2,text,3) all error kind=data-race
 * EXPECT -DCALL=(int)read(open("/dev/zero",O_RDONLY),text,3) all error kind=data-race
 * EXPECT -DCALL=(memchr(text,'a',9),1) every verified 1
 * EXPECT -DCALL=strncmp(text,"abd",1) every verified 1
 * EXPECT -DORDERED -DCALL=printf("%s%n",text,&number) optimal verified 1
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char text[10] = "abc", buffer[10];
static int number;

static void *writes(void *arg)
{
    text[1] = 'x';
    return arg;
}

static void *calls(void *arg)
{
    volatile int result = (int)(CALL);
    (void)result, (void)buffer, (void)number;
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, writes, NULL);
#ifdef ORDERED
    pthread_join(a, NULL);
#endif
    pthread_create(&b, NULL, calls, NULL);
#ifndef ORDERED
    pthread_join(a, NULL);
#endif
    pthread_join(b, NULL);
    return 0;
}
