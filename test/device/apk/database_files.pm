package apk::database_files;

# The database as it is written, once, at the end, each file under another name first. Nothing is synced.
use strict;
use exports qw(write_database);
use apk::database;
use apk::dependency;
use apk::messages;
use apk::package;
use gzip;
use later 'apk::repositories' => 'store_file';

# Whether all could be written.
sub write_database {
    my ($run) = @_;
    my @packages = installed_packages($run);
    my @world = sort { $a->{name} cmp $b->{name} } @{ $run->{world} };
    my $scripts = pack_tar(map { script_entries($_) } @packages);
    my @files = (
        ['etc/apk/world', join '', map { dependency_text($_) . "\n" } @world],
        ['lib/apk/db/installed', join '', map { installed_text($_) } @packages],
        $run->{has_plain_scripts}
            ? ['lib/apk/db/scripts.tar', $scripts]
            : ['lib/apk/db/scripts.tar.gz', pack_gzip($scripts)],
        ['lib/apk/db/triggers', join '', map { trigger_line($_) } @packages],
    );
    for (@files) {
        my ($path, $content) = @$_;
        next if store_file("$run->{root}/$path", $content);
        failure("System state may be inconsistent: failed to write database: $!");
        return 0;
    }
    return 1;
}

sub installed_text {
    my ($package) = @_;
    my $record = $package->{record};
    my $text = header_text($package);
    $text .= 'r:' . dependencies_text($record->{replaces}) . "\n" if @{ $record->{replaces} // [] };
    my $flags = join '', grep { $record->{flags}{$_} } qw(f s x S);
    $text .= "f:$flags\n" if length $flags;
    for my $folder (@{ $record->{folders} }) {
        $text .= "F:$folder->{name}\n";
        $text .= "M:$folder->{owner}\n" if defined $folder->{owner};
        $text .= join '', map { file_text($_) } @{ $folder->{files} };
    }
    return "$text\n";
}

sub file_text {
    my ($file) = @_;
    my $text = "R:$file->{name}\n";
    $text .= "a:$file->{owner}\n" if defined $file->{owner};
    $text .= "Z:$file->{sum}\n" if defined $file->{sum};
    return $text;
}

sub script_entries {
    my ($package) = @_;
    my $scripts = $package->{record}{scripts};
    my $name = label($package) . '.X1' . identity_hex($package);
    return map { { name => "$name.$_", content => $scripts->{$_} } } sort keys %$scripts;
}

sub trigger_line {
    my ($package) = @_;
    my $patterns = $package->{record}{triggers} // [];
    return @$patterns ? "$package->{identity} @$patterns\n" : '';
}


# A tar of { name, content }, executable.
sub pack_tar {
    my (@entries) = @_;
    my $tar = join '', map { header($_) . $_->{content} . "\0" x (-length($_->{content}) % 512) } @entries;
    return $tar . "\0" x 1024;
}

sub header {
    my ($entry) = @_;
    my $long = sprintf '%07o', 0;
    my $header = pack 'a100 a8 a8 a8 a12 a12 a8 a1 a100 a8 a247', $entry->{name}, '0000755', $long, $long,
        sprintf('%011o', length $entry->{content}), sprintf('%011o', 0), ' ' x 8, '0', '', "ustar\00000", '';
    substr($header, 148, 8) = sprintf("%06o\0 ", unpack '%32C*', $header);
    return $header;
}


1;
