package opkg::version;

# Versions as Debian orders them: [epoch:]version[-revision], where "~" sorts before the end of the text.
use strict;
use exports qw(read_version version_text compare_versions);

sub read_version {
    my ($text) = @_;
    $text =~ s/^\s+//;
    my $epoch = $text =~ s/^([^:]*)://s ? $1 : '';
    my $revision = $text =~ s/-([^-]*)$//s ? $1 : '';
    s/^\s+|\s+$//g for $text, $revision;
    return { epoch => $epoch =~ /^\s*(\d+)/ ? $1 : 0, version => $text, revision => $revision };
}

sub version_text {
    my ($of) = @_;
    return '(null)' if !length $of->{version};
    my $text = $of->{epoch} ? "$of->{epoch}:$of->{version}" : $of->{version};
    return length $of->{revision} ? "$text-$of->{revision}" : $text;
}

sub compare_versions {
    my ($left, $right) = @_;
    return $left->{epoch} <=> $right->{epoch}
        || compare_text($left->{version}, $right->{version})
        || compare_text($left->{revision}, $right->{revision});
}

sub compare_text {
    my ($left, $right) = @_;
    while (length $left || length $right) {
        my ($left_words) = $left =~ s/^(\D*)// ? $1 : '';
        my ($right_words) = $right =~ s/^(\D*)// ? $1 : '';
        my ($left_number) = $left =~ s/^0*(\d*)// ? $1 : '';
        my ($right_number) = $right =~ s/^0*(\d*)// ? $1 : '';
        my $order = compare_words($left_words, $right_words)
            || length $left_number <=> length $right_number
            || $left_number cmp $right_number;
        return $order if $order;
    }
    return 0;
}

sub compare_words {
    my ($left, $right) = @_;
    my $length = length $left > length $right ? length $left : length $right;
    for my $at (0 .. $length - 1) {
        my $order = weight(substr($left, $at, 1)) <=> weight(substr($right, $at, 1));
        return $order if $order;
    }
    return 0;
}

# The end of the text, and a digit, weigh nothing; letters come before all other signs.
sub weight {
    my ($sign) = @_;
    return 0 if !defined $sign || $sign eq '';
    return -1 if $sign eq '~';
    return $sign =~ /[A-Za-z]/ ? ord $sign : ord($sign) + 256;
}

1;
