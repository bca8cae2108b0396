package apk::signature;

# Signatures of indexes and packages of the second format, by the device's keys.

use strict;
use exports qw(signature_fault);
use compiled 'Digest::SHA';

my $F_SETFD = 2;

# What is wrong with a signature (an entry of a tar, or none) of some bytes, if anything is.
sub signature_fault {
    my ($run, $signature, $content) = @_;
    my $keys = $run->{keys_dir} // "$run->{root}/etc/apk/keys";
    my $key = $signature ? "$keys/" . $signature->{name} =~ s/^\.SIGN\.RSA256\.//r : '';
    return 'UNTRUSTED signature' if !$signature || $key =~ m{/\.\.?/} || !-f $key;
    open(my $file, '<:raw', $key) or return 'BAD signature';
    my $key_text = do { local $/; <$file> } // '';
    my $digest = Digest::SHA::sha256_hex(pack '(N/a*)3', $key_text, $signature->{content}, $content);
    my $signed = { key => $key, signature => $signature->{content}, content => $content };
    return is_known($run, $digest) || is_signed($signed) && keep($run, $digest) ? undef : 'BAD signature';
}

# What was found good once is good: openssl takes a quarter of a run. Their digests lie beside the root.
sub is_known {
    my ($run, $digest) = @_;
    open(my $file, '<', "$run->{root}.signed") or return 0;
    return grep { $_ eq "$digest\n" } <$file>;
}

sub keep {
    my ($run, $digest) = @_;
    if ($run->{root} ne '' && open(my $file, '>>', "$run->{root}.signed")) { print $file "$digest\n" }
    return 1;
}

sub is_signed {
    my ($signed) = @_;
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
