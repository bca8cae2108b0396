package opkg::http;

# The part of wget that opkg needs, with wget's exit codes: 4 for a network failure, 8 for an error answer. What is not
# plain HTTP is left to wget itself; without one, opkg reports 255.
use strict;
use exports qw(fetch);
use opkg::process;

my ($PF_INET, $SOCK_STREAM) = (2, 1);
my $NETWORK_FAILURE = 4;
my $ERROR_ANSWER = 8;
my $MOST_REDIRECTIONS = 20;
my $INTERRUPTED = 4;

sub fetch {
    my ($url, $path, $timeout_seconds) = @_;
    for (0 .. $MOST_REDIRECTIONS) {
        if ($url !~ m{^http://}) { return run_program('wget', '-q', '-O', $path, $url) }
        my $answer = get($url, $timeout_seconds) or return $NETWORK_FAILURE;
        if ($answer->{code} =~ /^30[12378]/ && $answer->{headers} =~ /^location:\s*(\S+)/im) {
            $url = resolve($url, $1);
            next;
        }
        return $ERROR_ANSWER if $answer->{code} !~ /^2/;
        return save($path, $answer->{body}) ? 0 : 3;
    }
    return $ERROR_ANSWER;
}

sub get {
    my ($url, $timeout_seconds) = @_;
    my ($host, $port, $path) = $url =~ m{^http://(?:[^@/]*@)?([^/:]+)(?::(\d+))?(/[^#]*)?} or return;
    my $address = gethostbyname($host) or return;
    socket(my $socket, $PF_INET, $SOCK_STREAM, 0) or return;
    connect($socket, pack('S n a4 x8', $PF_INET, $port // 80, $address)) or return;
    my $authority = defined $port ? "$host:$port" : $host;
    local $SIG{PIPE} = 'IGNORE';
    syswrite($socket, 'GET ' . ($path // '/') . " HTTP/1.0\r\nHost: $authority\r\nUser-Agent: opkg\r\nAccept: */*\r\n\r\n");
    my $answer = read_all($socket, $timeout_seconds) // return;
    my ($code, $headers, $body) = $answer =~ m{\AHTTP/\S+ (\d+)[^\n]*\n(.*?\n)?\r?\n(.*)\z}s or return;
    return if ($headers // '') =~ /^content-length:\s*(\d+)/im && length $body != $1;
    return { code => $code, headers => $headers // '', body => $body };
}

sub read_all {
    my ($socket, $timeout_seconds) = @_;
    my $answer = '';
    while (1) {
        my $ready = '';
        vec($ready, fileno $socket, 1) = 1;
        my $count = select($ready, undef, undef, $timeout_seconds);
        next if $count < 0 && $! == $INTERRUPTED;
        return if $count <= 0;
        my $read = sysread($socket, $answer, 65536, length $answer);
        return if !defined $read;
        return $answer if !$read;
    }
}

sub resolve {
    my ($url, $location) = @_;
    return $location if $location =~ m{^\w+://};
    return $url =~ s{^(\w+://[^/]+).*}{$1$location}sr if $location =~ m{^/};
    return $url =~ s{[^/]*\z}{$location}r;
}

sub save {
    my ($path, $content) = @_;
    open(my $file, '>:raw', $path) or return 0;
    print $file $content;
    return close $file;
}

1;
