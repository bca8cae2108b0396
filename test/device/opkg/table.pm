package opkg::table;

# A table whose entries come back in the order of opkg's own hash table of 1024 buckets. The order shows: in the status
# file, in NAME.list, in which package is configured first.
use strict;

my $BUCKETS = 1024;

sub new { return bless { entries => {}, count => 0 }, $_[0] }

sub get {
    my ($table, $key) = @_;
    my $entry = $table->{entries}{$key} or return;
    return $entry->{value};
}

sub set {
    my ($table, $key, $value) = @_;
    my $entry = $table->{entries}{$key} //= { bucket => bucket($key), number => $table->{count}++ };
    $entry->{value} = $value;
}

sub remove { delete $_[0]{entries}{ $_[1] } }

sub keys_in_order {
    my ($table) = @_;
    my $entries = $table->{entries};
    return sort {
        $entries->{$a}{bucket} <=> $entries->{$b}{bucket} || $entries->{$a}{number} <=> $entries->{$b}{number}
    } keys %$entries;
}

sub values_in_order {
    my ($table) = @_;
    return map { $table->{entries}{$_}{value} } $table->keys_in_order;
}

sub bucket {
    my $hash = 5381;
    $hash = ($hash * 33 + $_) % $BUCKETS for unpack 'C*', $_[0];
    return $hash;
}

1;
