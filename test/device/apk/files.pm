package apk::files;

# Files of packages on the disk. What its owner changed below /etc stays, but for /etc/apk: the
# package's file comes beside it as ".apk-new".
use strict;
use exports qw(
    owner_of path_in paths_of temporary_path commit_files remove_files remove_folders differs is_protected);
use apk::database;
use apk::messages;
use compiled 'Digest::SHA';

sub path_in {
    my ($folder, $file) = @_;
    return length $folder->{name} ? "$folder->{name}/$file->{name}" : $file->{name};
}

# All files of a record.
sub paths_of {
    my ($record) = @_;
    return map { my $folder = $_; map { path_in($folder, $_) } @{ $folder->{files} } } @{ $record->{folders} };
}

# Beside the file itself, so that a rename suffices.
sub temporary_path {
    my ($run, $path) = @_;
    my ($folder, $name) = $path =~ m{\A(.*/)?([^/]+)\z};
    return "$run->{root}/" . ($folder // '') . '.apk.' . substr(Digest::SHA::sha1_hex($name) . Digest::SHA::sha1_hex($path), 0, 48);
}

# Who has the file, { package, file }, as far as the package is installed.
sub owned {
    my ($run, $path) = @_;
    my $owned = $run->{owned} //= { map { owned_entries($_) } installed_packages($run) };
    return $owned->{$path};
}

sub owner_of {
    my ($run, $path) = @_;
    my $entry = owned($run, $path);
    return $entry ? $entry->{package} : undef;
}

sub owned_entries {
    my ($package) = @_;
    my @entries;
    for my $folder (@{ $package->{record}{folders} }) {
        for my $file (@{ $folder->{files} }) {
            push @entries, path_in($folder, $file) => { package => $package, file => $file, folder => $folder };
        }
    }
    return @entries;
}

sub is_protected { return $_[0] =~ m{\Aetc(?:/|\z)} && $_[0] !~ m{\Aetc/apk(?:/|\z)} }

# Whether the file on the disk is another than the one with this sum. One that is not there is not.
sub differs {
    my ($run, $path, $sum) = @_;
    my $real = "$run->{root}/$path";
    return 0 if !-l $real && !-e $real;
    return 1 if !defined $sum;
    my $content = -l $real ? readlink $real : read_file($real);
    return 'Q1' . Digest::SHA::sha1_base64($content // '') . '=' ne $sum;
}

sub read_file {
    my ($path) = @_;
    open(my $file, '<:raw', $path) or return;
    local $/;
    return scalar <$file>;
}

# Renames the package's files into place; from now on they are its own.
sub commit_files {
    my ($run, $package) = @_;
    for my $folder (@{ $package->{record}{folders} }) {
        $run->{changed_folders}{ $folder->{name} } = 1;
        for my $file (@{ $folder->{files} }) {
            my $path = path_in($folder, $file);
            my $known = owned($run, $path);
            my $step = { path => $path, file => $file, known => $known };
            commit_file($run, $package, $step) if !$file->{is_broken};
            disown($known, $package) if $known;
            $run->{owned}{$path} = { package => $package, file => $file, folder => $folder };
        }
    }
}

sub commit_file {
    my ($run, $package, $step) = @_;
    my ($path, $file, $known) = @$step{qw(path file known)};
    my $temporary = temporary_path($run, $path);
    if (!is_protected($path) || !differs($run, $path, $known ? $known->{file}{sum} : undef)) {
        return if rename $temporary, "$run->{root}/$path";
        failure("$package->{name}-$package->{version}: failed to commit $path: $!");
        $package->{record}{flags}{f} = 1;
    } elsif ($run->{clean_protected} || !differs($run, $path, $file->{sum})) {
        unlink $temporary;
    } else {
        message("  Installing file to $path.apk-new");
        rename $temporary, "$run->{root}/$path.apk-new";
    }
}

# A file that another package takes over is no longer in the record of the first.
sub disown {
    my ($known, $package) = @_;
    return if $known->{package}{name} eq $package->{name};
    @{ $known->{folder}{files} } = grep { $_ != $known->{file} } @{ $known->{folder}{files} };
}

# Those of a record that nobody else has by now. `kept`: the record of the version that follows.
sub remove_files {
    my ($run, $removal) = @_;
    my ($record, $kept) = @$removal{qw(record kept)};
    my %stays = map { $_ => 1 } $kept ? paths_of($kept) : ();
    for my $folder (@{ $record->{folders} }) {
        $run->{changed_folders}{ $folder->{name} } = 1;
        for my $file (@{ $folder->{files} }) {
            my $path = path_in($folder, $file);
            next if $stays{$path};
            my $is_protected = is_protected($path);
            unlink "$run->{root}/$path" if !$is_protected || $run->{purge} || !differs($run, $path, $file->{sum});
            unlink "$run->{root}/$path.apk-new" if $is_protected;
            delete $run->{owned}{$path} if $run->{owned};
        }
    }
    my %stays_folder = map { $_->{name} => 1 } @{ $kept ? $kept->{folders} : [] };
    $removal->{package}{is_gone} = 1 if !$kept;
    remove_folders($run, grep { !$stays_folder{$_} } map { $_->{name} } @{ $record->{folders} });
    delete $removal->{package}{is_gone};
}

# Folders of no package, if they are empty.
sub remove_folders {
    my ($run, @names) = @_;
    my %used;
    for my $package (grep { !$_->{is_gone} } installed_packages($run)) {
        $used{ $_->{name} } = 1 for @{ $package->{record}{folders} };
    }
    rmdir "$run->{root}/$_" for grep { length && !$used{$_} } sort { $b cmp $a } @names;
}

1;
