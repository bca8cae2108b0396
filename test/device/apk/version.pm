package apk::version;

# Versions: numbers with dots, a letter, suffixes, a commit, a release. They are compared piece by
# piece; where the kinds of the pieces differ, the kind that comes earlier in that row is the later
# version, but for suffixes of what is not yet released.
use strict;
use exports qw(is_version compare_versions);

my @SUFFIXES = qw(alpha beta pre rc cvs svn git hg p);
my %SUFFIX = map { $SUFFIXES[$_] => $_ } 0 .. $#SUFFIXES;
my $FIRST_RELEASED = $SUFFIX{cvs};
my $ANY_SUFFIX = join '|', @SUFFIXES;

my ($FIRST, $NUMBER, $LETTER, $SUFFIX, $SUFFIX_NUMBER, $COMMIT, $RELEASE, $END) = 0 .. 7;

sub is_version {
    return $_[0] =~ /\A\d+(?:\.\d+)*[a-z]?(?:_(?:$ANY_SUFFIX)\d*)*(?:~[0-9a-f]+)?(?:-r\d+)?\z/;
}

# Negative, zero or positive; both have to be versions.
sub compare_versions {
    my @left = pieces($_[0]);
    my @right = pieces($_[1]);
    while (1) {
        my ($left, $right) = (shift @left, shift @right);
        if ($left->[0] != $right->[0]) { return compare_kinds($left, $right) }
        return 0 if $left->[0] == $END;
        my $order = compare_pieces($left, $right);
        return $order if $order;
    }
}

sub compare_kinds {
    my ($left, $right) = @_;
    return -1 if $left->[0] == $SUFFIX && $SUFFIX{ $left->[1] } < $FIRST_RELEASED;
    return 1 if $right->[0] == $SUFFIX && $SUFFIX{ $right->[1] } < $FIRST_RELEASED;
    return $right->[0] <=> $left->[0];
}

sub compare_pieces {
    my ($left, $right) = @_;
    my ($kind, $one) = @$left;
    my $other = $right->[1];
    return $SUFFIX{$one} <=> $SUFFIX{$other} if $kind == $SUFFIX;
    my $is_text = $kind == $LETTER || $kind == $COMMIT || $kind == $NUMBER && ($one =~ /^0/ || $other =~ /^0/);
    return $is_text ? $one cmp $other : $one <=> $other;
}

sub pieces {
    my ($rest) = @_;
    my @pieces;
    push @pieces, [$FIRST, $1] if $rest =~ s/^(\d+)//;
    push @pieces, [$NUMBER, $1] while $rest =~ s/^\.(\d+)//;
    push @pieces, [$LETTER, $1] if $rest =~ s/^([a-z])//;
    while ($rest =~ s/^_([a-z]+)//) {
        push @pieces, [$SUFFIX, $1];
        push @pieces, [$SUFFIX_NUMBER, $1] if $rest =~ s/^(\d+)//;
    }
    push @pieces, [$COMMIT, $1] if $rest =~ s/^~([0-9a-f]+)//;
    push @pieces, [$RELEASE, $1] if $rest =~ s/^-r(\d+)//;
    return (@pieces, [$END]);
}

1;
