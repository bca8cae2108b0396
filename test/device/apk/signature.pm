package apk::signature;

# Signatures of indexes and packages of the second format, by the device's keys.

use strict;
use exports qw(signature_fault);

my $F_SETFD = 2;

# What is wrong with a signature (an entry of a tar, or none) of some bytes, if anything is.
sub signature_fault {
    my ($run, $signature, $content) = @_;
    my $keys = $run->{keys_dir} // "$run->{root}/etc/apk/keys";
    my $key = $signature ? "$keys/" . $signature->{name} =~ s/^\.SIGN\.RSA256\.//r : '';
    return 'UNTRUSTED signature' if !$signature || $key =~ m{/\.\.?/} || !-f $key;
    my $signed = { key => $key, signature => $signature->{content}, content => $content };
    return is_signed($run, $signed) ? undef : 'BAD signature';
}

sub is_signed {
    my ($run, $signed) = @_;
    pipe(my $output, my $input) or return 0;
    fcntl($output, $F_SETFD, 0);
    print $input $signed->{signature};
    close $input;
    my $signature = '/proc/self/fd/' . fileno $output;
    my $command = "openssl dgst -sha256 -verify '$signed->{key}' -signature $signature >/dev/null 2>&1";
    open(my $openssl, '|-:raw', $command) or return 0;
    local $SIG{PIPE} = 'IGNORE';
    print $openssl $signed->{content};
    return close $openssl;
}

1;
