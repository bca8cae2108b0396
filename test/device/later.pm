package later;

# Functions of a module that is loaded when the first of them is called.
use strict;
no strict 'refs';

sub import {
    my (undef, $module, @names) = @_;
    my $user = caller;
    my $file = $module =~ s{::}{/}gr . '.pm';
    for my $name (@names) {
        *{"${user}::$name"} = sub { require $file; goto &{"${module}::$name"} };
    }
}

1;
