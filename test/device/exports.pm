package exports;

# What a module offers: functions by their names, variables with their sign. Like Exporter, whose part for variables takes
# longer to load than all modules of a stand-in.
use strict;
no strict 'refs';

sub import {
    my (undef, @names) = @_;
    my $offerer = caller;
    *{"${offerer}::import"} = sub {
        my $user = caller;
        for (@names) {
            my ($sign, $name) = /\A(\W?)(.+)/;
            my $full = "${offerer}::$name";
            *{"${user}::$name"} = $sign eq '$' ? \$$full : $sign eq '@' ? \@$full : \&$full;
        }
    };
}

1;
