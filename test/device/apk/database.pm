package apk::database;

# What is installed and what was asked for: world, installed, scripts.tar.gz, triggers.
use strict;
use exports qw(open_database installed_packages installed_bytes identity_hex visible_files);
use apk::archive;
use apk::catalogue;
use apk::dependency;
use apk::messages;
use apk::package;
use compiled qw(Fcntl MIME::Base64);

sub open_database {
    my ($run, $purpose) = @_;
    give_up('Unable to open root: No such file or directory') if !-d ($run->{root} || '/');
    $run->{accepted} = read_architectures($run);
    take_lock($run) if $purpose eq 'write';
    create_catalogue($run);
    if ($run->{command} ne 'fetch') {
        read_world($run);
        read_state($run) if ($run->{from} // '') ne 'repositories';
    }
    require apk::repositories;
    apk::repositories::open_repositories($run, $purpose eq 'write' && $run->{command} ne 'del');
}

sub read_world {
    my ($run) = @_;
    unreadable($!) if !defined(my $world = slurp("$run->{root}/etc/apk/world"));
    $run->{world} = parse_dependencies($world) // unreadable('dependency format is invalid');
}

sub read_state {
    my ($run) = @_;
    read_installed($run);
    read_triggers($run);
    read_scripts($run);
}

sub unreadable { give_up("Unable to read database: $_[0]", "Failed to open apk database: $_[0]") }

sub read_architectures {
    my ($run) = @_;
    my $text = slurp("$run->{root}/etc/apk/arch") // 'x86_64';
    return { map { $_ => 1 } 'noarch', split ' ', $text };
}

sub take_lock {
    my ($run) = @_;
    my $path = "$run->{root}/lib/apk/db/lock";
    sysopen(my $lock, $path, Fcntl::O_RDWR() | Fcntl::O_CREAT(), 0600) or refuse_lock();
    $run->{lock} = $lock;
    return if flock $lock, Fcntl::LOCK_EX() | Fcntl::LOCK_NB();
    refuse_lock() if !$run->{wait};
    notice('Waiting for repository lock');
    my $interrupted = 'Interrupted system call';
    local $SIG{ALRM} = sub {
        give_up("Unable to lock database: $interrupted", "Failed to open apk database: $interrupted");
    };
    alarm $run->{wait};
    flock $lock, Fcntl::LOCK_EX();
    alarm 0;
}

sub refuse_lock { give_up("Unable to lock database: $!", "Failed to open apk database: $!") }

sub slurp {
    my ($path) = @_;
    open(my $file, '<:raw', $path) or return;
    local $/;
    return scalar(<$file>) // '';
}

sub visible_files {
    my ($folder) = @_;
    opendir(my $listing, $folder) or return;
    return map { "$folder/$_" } sort grep { !/^\./ } readdir $listing;
}

# Blocks that end with an empty line; a last one that does not is not there.
sub read_installed {
    my ($run) = @_;
    my $text = slurp("$run->{root}/lib/apk/db/installed") // '';
    my ($number, $package) = (0, undef);
    for my $line (split /\n/, $text, -1) {
        $number++;
        if (length $line < 2) {
            add_installed($run, $package) if $package && defined $package->{name};
            undef $package;
            next;
        }
        my ($letter, $value) = $line =~ /\A(.):(.*)\z/s or unreadable('v2 database format error');
        $package //= { record => { flags => {}, folders => [] } };
        next if add_line($package, $letter, $value) || add_record($package->{record}, $letter, $value);
        failure("FDB format error (line $number, entry '$letter')");
        unreadable('v2 database format error');
    }
}

sub add_record {
    my ($record, $letter, $value) = @_;
    my $folder = $record->{folders}[-1];
    my $file = $folder && $folder->{files}[-1];
    if ($letter eq 'f') { $record->{flags} = { map { $_ => 1 } split //, $value } }
    elsif ($letter eq 'r') { $record->{replaces} = parse_dependencies($value) }
    elsif ($letter eq 'F') { push @{ $record->{folders} }, { name => $value, files => [] } }
    elsif ($letter eq 'M') { return 0 if !$folder; $folder->{owner} = $value }
    elsif ($letter eq 'R') { return 0 if !$folder; push @{ $folder->{files} }, { name => $value } }
    elsif ($letter eq 'a') { return 0 if !$file; $file->{owner} = $value }
    elsif ($letter eq 'Z') { return 0 if !$file || $value !~ m{\AQ1[A-Za-z0-9+/]{27}=\z}; $file->{sum} = $value }
    else { return $letter =~ /[A-Zgqs]/ }
    return 1;
}

sub add_installed {
    my ($run, $package) = @_;
    my $known = add_package($run, $package);
    $known->{record} = $package->{record};
    $known->{record}{scripts} //= {};
    $run->{installed}{ $known->{name} } = $known;
}

sub installed_packages { return map { $_[0]{installed}{$_} } sort keys %{ $_[0]{installed} } }

sub installed_bytes {
    my ($run) = @_;
    my $sum = 0;
    $sum += $_->{installed_size} // 0 for values %{ $run->{installed} };
    return $sum;
}

sub identity_hex { return unpack 'H*', MIME::Base64::decode_base64(substr($_[0]{identity}, 2)) }

sub read_triggers {
    my ($run) = @_;
    for my $line (split /\n/, slurp("$run->{root}/lib/apk/db/triggers") // '') {
        my ($identity, @patterns) = split ' ', $line;
        for my $package (values %{ $run->{installed} }) {
            $package->{record}{triggers} = \@patterns if $package->{identity} eq $identity;
        }
    }
}

sub read_scripts {
    my ($run) = @_;
    my $content = slurp("$run->{root}/lib/apk/db/scripts.tar");
    $run->{has_plain_scripts} = defined $content;
    if (!defined $content) {
        my $packed = slurp("$run->{root}/lib/apk/db/scripts.tar.gz") // return;
        my ($streams, $error) = gzip_streams($packed);
        unreadable($error) if $error;
        $content = $streams->[0]{content};
    }
    my ($entries, $tar_error) = read_tar($content);
    unreadable($tar_error) if $tar_error;
    my %by_hash = map { identity_hex($_) => $_ } values %{ $run->{installed} };
    for my $entry (@$entries) {
        my ($hash, $type) = $entry->{name} =~ /\.X1([0-9a-f]{40})\.([\w-]+)\z/ or next;
        $by_hash{$hash}{record}{scripts}{$type} = $entry->{content} if $by_hash{$hash};
    }
}

1;
