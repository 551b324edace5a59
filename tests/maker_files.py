"""The makers' files, written again from the arrays of a mirror: the formats as they were seen in public copies.

Where a public project has noted the SHA-256 of the maker's file, the text must have that very checksum.
"""

from __future__ import annotations

import gzip
import io
import struct
import zipfile

import numpy as np

from pulens.research.benchmark.datasets.tables import MUSHROOM as LEVELS

# of files inside the archives (uncompressed), as noted by public projects that download them from UCI
SHA256 = {
    "agaricus-lepiota.data": "e65d082030501a3ebcbcd7c9f7c71aa9d28fdfff463bf4cf4716a3fe13ac360e",
    "bank-full.csv": "d1513ec63b385506f7cfce9f2c5caa9fe99e7ba4e8c3fa264b3aaf0f849ed32d",
    "batch1.dat": "f346beee8e0c5e31ac5961845b6d96a70dc1ccf799481592fb2f0d96a81952e6",
    "batch2.dat": "07f7e94a9bf4377240f9b230d20c750932fc785d4766b6a4b7fc370a035c825a",
    "batch3.dat": "a4c7a1a6744df32f0ca139c75c3b4dade7cc99f57a7785d28cb0f62577dd2061",
    "batch4.dat": "bd76f86be34ffe89f46a27c6fc2b5b8c6ebfcf984dff4b3e5befc76d98034b7f",
    "batch5.dat": "3f95cb6e4a39a94bbacd2f1984f1754c9fb5eb3221812975ad70edbcea7abaec",
    "batch6.dat": "83348c504105a5aa5264d1209f2a5d7ba7d9c8bcae60290395f201ac4708ff95",
    "batch8.dat": "296346b932893ea18c513e23ac5b660f35e1c499fde8254d4804a2ce8a1b4ca7",
    "batch9.dat": "e019f11f4fa8336ab1f41f7503eb456b3679da0a84eb8032fe6cef90f0547826",
    "connect-4.data": "063152e6eadbb424c7ef4645df76e493a43812edd9c992400983da4fa54f8cba",
    "letter-recognition.data": "2b89f3602cf768d3c8355267d2f13f2417809e101fc2b5ceee10db19a60de6e2",
    "pendigits.tes": "8bd03229c5c5291fefe43e45465dd948d2645bf23328b9d993e0b777666b2015",
    "pendigits.tra": "e2b9eb9f0d0467e2b64a4816a3420edf2b8043447576f4b84337aba44a9f97d3",
    "sat.trn": "e896dc88a960fa2404160fc4c3cb3dc53fcf4afd80ba920bf2d261bd42d12613",
    "sat.tst": "4b9167b8a92baafafed7c8809aef86d0683a5e685c19d98d119fa6974f0f2479",
    "shuttle.trn": "87b24ee9fb5137e1d417659cf905d84d0e15342bbaa60770f1ae83da1a38200a",
    "shuttle.tst": "f776934a628d9b94c482cb058a76ddaa63823e0f74aec065813c9dff3b89d661",
    "spambase.data": "b1ef93de71f97714d3d7d4f58fc9f718da7bbc8ac8a150eff2778616a8097b12",
    "winequality-red.csv": "4a402cf041b025d4566d954c3b9ba8635a3a8a01e039005d97d6a710278cf05e",
    "winequality-white.csv": "76c3f809815c17c07212622f776311faeb31e87610d52c26d87d6e361b169836",
}


def rows_of(*columns):
    return zip(*(column.tolist() for column in columns), strict=True)


def spambase(arrays):
    """0,0.64,0.64,0,0.32,0,0,0,0,0,0,0.64,0,0,0,0.32,0,1.29, ... ,0,0,0,0.778,0,0,3.756,61,278,1 (CR LF)"""
    lines = (",".join(f"{value:.10g}" for value in row) + f",{y}\r\n" for row, y in rows_of(arrays["X"], arrays["y"]))
    return {"spambase.data": "".join(lines)}


def connect4(arrays):
    """b,b,b,b,b,b,b,b,b,b,b,b,x,o,b,b,b,b,x,o,x,o,x,o,b,b,b,b,b,b,b,b,b,b,b,b,b,b,b,b,b,b,win"""
    cells, outcomes = np.array(list("box"))[arrays["X"]], np.array(["win", "loss", "draw"])[arrays["y"]]
    return {"connect-4.data": "".join(f"{','.join(row)},{outcome}\n" for row, outcome in rows_of(cells, outcomes))}


def mushroom(arrays):
    """p,x,s,n,t,p,f,c,n,k,e,e,s,s,w,w,p,w,o,p,k,s,u
    e,x,s,y,t,a,f,c,b,k,e,c,s,s,w,w,p,w,o,p,n,n,g"""
    columns = [np.array(list(levels))[codes] for levels, codes in zip(LEVELS.values(), arrays["X"].T, strict=True)]
    lines = (",".join(row) + "\n" for row in rows_of(np.array(["e", "p"])[arrays["y"]], *columns))
    return {"agaricus-lepiota.data": "".join(lines)}


def letter(arrays):
    """T,2,8,3,5,1,8,13,0,6,6,10,8,0,8,0,8
    I,5,12,3,7,2,10,5,5,4,13,3,9,2,8,4,10"""
    lines = (f"{chr(65 + y)},{','.join(map(str, row))}\n" for row, y in rows_of(arrays["X"], arrays["y"]))
    return {"letter-recognition.data": "".join(lines)}


def pendigits(arrays):
    """47,100, 27, 81, 57, 37, 26,  0,  0, 23, 56, 53,100, 90, 40, 98, 8
    0, 89, 27,100, 42, 75, 29, 45, 15, 15, 37,  0, 69,  2,100,  6, 2"""
    return {
        f"pendigits.{ending}": "".join(
            ",".join(f"{value:3d}" for value in row) + f", {y}\n"
            for row, y in rows_of(arrays[f"X_{part}"], arrays[f"y_{part}"])
        )
        for part, ending in (("train", "tra"), ("test", "tes"))
    }


def in_two_parts(arrays, train, test):
    return {
        name: "".join(
            " ".join(map(str, row)) + f" {y}\n" for row, y in rows_of(arrays[f"X_{part}"], arrays[f"y_{part}"])
        )
        for part, name in (("train", train), ("test", test))
    }


def landsat(arrays):
    """92 115 120 94 84 102 106 79 84 102 102 83 101 126 133 103 92 112 118 85 84 103 ... 84 107 113 87 3"""
    return in_two_parts(arrays, "sat.trn", "sat.tst")


def shuttle(arrays):
    """50 21 77 0 28 0 27 48 22 2"""
    return in_two_parts(arrays, "shuttle.trn", "shuttle.tst")


def wine_quality(arrays):
    """A line of names, then numbers.

    "fixed acidity";"volatile acidity";"citric acid"; ... ;"sulphates";"alcohol";"quality"
    7.4;0.7;0;1.9;0.076;11;34;0.9978;3.51;0.56;9.4;5

    Whole numbers have no point, but for one value in either file.
    """
    pointed = {"red": (";2.74;2;9.4;4\n", ";2.74;2.0;9.4;4\n"), "white": (";0.44;8;3\n", ";0.44;8.0;3\n")}
    heading = ";".join(f'"{name}"' for name in [*arrays["feature_names"].tolist(), "quality"]) + "\n"
    files = {}
    for color, name in enumerate(("red", "white")):
        kept = arrays["color"] == color
        lines = (
            ";".join(f"{value:.15g}" for value in row) + f";{y}\n"
            for row, y in rows_of(arrays["X"][kept], arrays["y"][kept])
        )
        files[f"winequality-{name}.csv"] = heading + "".join(lines).replace(*pointed[name])
    return files


def avila(arrays):
    """0.266074,-0.16562,0.32098,0.483299,0.17234,0.273364,0.371178,0.929823,0.251173,0.159345,A

    Lines end in CR LF: a copy with a line of names before it has 39 bytes more than the text written here.
    """
    files = {}
    for part, ending in (("train", "tr"), ("test", "ts")):
        rows = rows_of(arrays[f"X_{part}"], np.array(list("ABCDEFGHIWXY"))[arrays[f"y_{part}"]])
        lines = (
            ",".join(f"{value:.6f}".rstrip("0").rstrip(".") for value in row) + f",{copyist}\r\n"
            for row, copyist in rows
        )
        files[f"avila/avila-{ending}.txt"] = "".join(lines)
    return files


def page_blocks(arrays):
    """5   7     35  1.400 .400 .657     2.33     14     23      6 1
    6   7     42  1.167 .429 .881     3.60     18     37      5 1
    1  14     14 14.000 1.00 1.00    14.00     14     14      1 2"""

    def point(value, decimals, width):
        return f"{value:.{decimals}f}".removeprefix("0")[:width]

    lines = []
    for row, y in rows_of(arrays["X"], arrays["y"]):
        shape = f"{row[0]:4.0f}{row[1]:4.0f}{row[2]:7.0f}{point(row[3], 3, 6):>7}"
        black = f"{point(row[4], 3, 4):>5}{point(row[5], 3, 4):>5}{point(row[6], 2, 9):>9}"
        lines.append(f"{shape}{black}{row[7]:7.0f}{row[8]:7.0f}{row[9]:7.0f} {y}\n")
    return {"page-blocks.data": "".join(lines)}


def grid_stability(arrays):
    """A line of names, then numbers and a word; lines end in CR LF.

    "tau1","tau2","tau3","tau4","p1","p2","p3","p4","g1","g2","g3","g4","stab","stabf"
    2.95906002455997,3.07988520422811,8.38102539191882, ... ,0.958033987602737,0.0553474891727752,"unstable"

    The mirror has fewer digits than the maker; the digits that it lost are made up, and must be lost again.
    """
    heading = ",".join(f'"{name}"' for name in [*arrays["feature_names"].tolist(), "stab", "stabf"]) + "\r\n"
    table = np.column_stack([arrays["X"], arrays["stab"]])
    table = table + np.where(np.abs(table) < 1e-4, 3e-4 * table, 4e-10)
    words = np.array(['"unstable"', '"stable"'])[arrays["y"]]
    lines = (",".join(f"{value:.15g}" for value in row) + f",{word}\r\n" for row, word in rows_of(table, words))
    return {"Data_for_UCI_named.csv": heading + "".join(lines)}


def gas_drift(arrays):
    """1 1:15596.162100 2:1.868245 3:2.371604 4:2.803678 5:7.512213 6:-2.739388 7:-3.344671 ... 128:-2.654529"""
    files = {f"batch{batch}.dat": "1 1:0.000000\n" for batch in (7, 10)}
    for batch in np.unique(arrays["batch"]).tolist():
        kept = arrays["batch"] == batch
        lines = (
            f"{y} " + " ".join(f"{place}:{value:.6f}" for place, value in enumerate(row, 1)) + "\n"
            for row, y in rows_of(arrays["X"][kept], arrays["y"][kept])
        )
        files[f"batch{batch}.dat"] = "".join(lines)
    return {f"Dataset/{name}": text for name, text in files.items()}


def bank_marketing(arrays):
    """A line of names, then words in quotes.

    "age";"job";"marital";"education";"default";"balance";"housing"; ... ;"previous";"poutcome";"y"
    58;"management";"married";"tertiary";"no";2143;"yes";"no";"unknown";5;"may";261;1;-1;0;"unknown";"no"
    """
    heading = ";".join(f'"{name}"' for name in arrays) + "\n"
    columns = [
        values.astype(str) if values.dtype.kind == "i" else np.char.add(np.char.add('"', values), '"')
        for values in arrays.values()
    ]
    return {"bank-full.csv": heading + "".join(";".join(row) + "\n" for row in rows_of(*columns))}


def boston_housing(arrays):
    """0.00632  18.00   2.310  0  0.5380  6.5750  65.20  4.0900   1  296.0  15.30
     396.90   4.98  24.00
    0.02731   0.00   7.070  0  0.4690  6.4210  78.90  4.9671   2  242.0  17.80
     396.90   9.14  21.60"""
    table = np.column_stack([arrays["X"], arrays["y"]])
    first = "{:8.5f} {:6.2f} {:7.3f} {:2.0f} {:7.4f} {:7.4f} {:6.2f} {:7.4f} {:3.0f} {:6.1f} {:6.2f}"
    second = " {:7.2f} {:6.2f} {:6.2f}"
    lines = (first.format(*row[:11]) + "\n" + second.format(*row[11:]) + "\n" for row in table.tolist())
    words = "".join(f" line {number} of 22, about the columns in words and numbers\n" for number in range(1, 23))
    return {"boston.txt": words + "".join(lines)}


def concrete(arrays):
    """A workbook of 124928 bytes: names in the first row, then eight numbers and the strength; no formulas."""
    cells = {
        (row + 1, column): value
        for row, values in enumerate(np.column_stack([arrays["X"], arrays["y"]]).tolist())
        for column, value in enumerate(values)
    }
    return {"Concrete_Data.xls": workbook(number_records(cells))}


def pima(arrays):
    """Remarks and attributes, then the rows.

    @attribute 'preg' numeric
    @attribute 'class' { tested_negative, tested_positive}
    @data
    6,148,72,35,0,33.6,0.627,50,tested_positive
    """
    head = "% words about the data, class 1 too\n@relation pima_diabetes\n@attribute 'preg' numeric\n@data\n"
    words = np.array(["tested_negative", "tested_positive"])[arrays["y"]]
    lines = (",".join(f"{value:.15g}" for value in row) + f",{word}\n" for row, word in rows_of(arrays["X"], words))
    return {"diabetes.arff": head + "".join(lines)}


def elkan_noto_protein(arrays):
    """+1<TAB>1:1 5:2 9:1 17:1 23:1 32:1 33:1 34:3 35:1 36:1 37:2 63:1 64:1 ... 2369:2 5985:2, then two blanks"""
    ends, words, counts = (arrays[name].tolist() for name in ("indptr", "indices", "data"))
    lines = ["", "", ""]
    for group, first, last in zip(arrays["group"].tolist(), ends[:-1], ends[1:], strict=True):
        pairs = " ".join(f"{words[place] + 1}:{counts[place]}" for place in range(first, last))
        lines[group] += f"+1\t{pairs}  \n"
    return {f"elkan_noto_{name}.txt": text for name, text in zip("PQN", lines, strict=True)}


def rocker_protein(arrays):
    """MYYKEIAHALFSALFALSELYIAVR, a read in a line; the first file has those before the selection"""
    sequences = ["".join(row) for row in arrays["levels"][arrays["X"]].tolist()]
    files = {}
    for name, count in (("ref", "count_unlabelled"), ("sel", "count_positive")):
        reads = zip(sequences, arrays[count].tolist(), strict=True)
        files[f"Rocker_{name}_sequences_filtered.txt.gz"] = "".join(f"{read}\n" * times for read, times in reads)
    return files


SINGLE_FILES = {"boston_housing", "pima", "elkan_noto_protein"}  # published as they are, not in an archive
MAKERS = {
    maker.__name__: maker
    for maker in (
        *(avila, bank_marketing, boston_housing, concrete, connect4, elkan_noto_protein, gas_drift),
        *(grid_stability, landsat, letter, mushroom, page_blocks, pendigits, pima, rocker_protein, shuttle, spambase),
        wine_quality,
    )
}
COMPRESSED = {"connect-4.data", "page-blocks.data", "shuttle.trn"}  # these UCI keeps as .Z only


def zipped(files):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as opened:
        for name, content in files.items():
            opened.writestr(name, content)
    return archive.getvalue()


def published(name, files, compressed=True):
    """What each address of the maker answers, by the name that its file has here."""
    if name in SINGLE_FILES:
        return {file: text.encode() for file, text in files.items()}
    if name == "rocker_protein":
        return {file: gzip.compress(text.encode(), 1, mtime=0) for file, text in files.items()}
    if name == "bank_marketing":
        files = {"bank.zip": zipped({**files, "bank-names.txt": "names"}), "bank-additional.zip": zipped({"x": ""})}
    if compressed:
        files = {
            f"{file}.Z" if file in COMPRESSED else file: compress(text.encode()) if file in COMPRESSED else text
            for file, text in files.items()
        }
    return {f"{name}.zip": zipped({"Index": "what else lies there", **files})}


def compress(content):
    """Unix compress with codes of up to 16 bits, without ever emptying its table."""
    out, bits, held, written, width = bytearray(b"\x1f\x9d\x90"), 0, 0, 0, 9
    table, free, known = {}, 257, content[0]
    for byte in content[1:]:
        longer = known << 8 | byte
        if longer in table:
            known = table[longer]
            continue
        bits |= known << held
        held += width
        written += 1
        known = byte
        if free < 1 << 16:
            table[longer] = free
            free += 1
            if free > 1 << width and width < 16:  # fill the group of eight up, then go over to wider codes
                held += -written % 8 * width
                out += bits.to_bytes(held // 8, "little")
                bits, held, written, width = 0, 0, 0, width + 1
        if written == 8:
            out += bits.to_bytes(width, "little")
            bits, held, written = 0, 0, 0
    return bytes(out + (bits | known << held).to_bytes(-(-(held + width) // 8), "little"))


def number_records(cells):
    """Cells as Excel keeps them: small numbers packed into four bytes, neighbours together, the others as doubles."""
    records = []
    for (row, column), value in cells.items():
        packed = next((rk for rk in (whole(value), whole(value * 100, 1)) if rk is not None), None)
        if packed is None or unpacked(packed) != value:
            records.append((0x203, struct.pack("<HHHd", row, column, 15, value)))
        elif column % 3:
            records.append((0x27E, struct.pack("<HHHI", row, column, 15, packed)))
        else:
            records.append((0xBD, struct.pack("<HHHIH", row, column, 15, packed, column)))
    return records


def whole(value, divided=0):
    return int(value) << 2 & 0xFFFFFFFF | 2 | divided if value == int(value) else None


def unpacked(packed):
    value = packed >> 2
    return (value - (1 << 30) if value >> 29 else value) / (100 if packed & 1 else 1)


def workbook(records, name="Workbook"):
    """A compound file with one stream: globals, then a sheet with these records."""
    begin, end = (0x809, struct.pack("<HHHHII", 0x600, 5, 0, 0, 0, 0)), (0x0A, b"")
    sheet = (0x809, struct.pack("<HHHHII", 0x600, 0x10, 0, 0, 0, 0))
    stream = b"".join(
        struct.pack("<HH", kind, len(body)) + body for kind, body in (begin, end, sheet, *records, end)
    ).ljust(4096, b"\0")
    sectors = -(-len(stream) // 512)
    tables = -(-(sectors + 1) // 127)  # a table has 128 places, and needs one for itself
    chain = [*range(1, sectors), 0xFFFFFFFE, 0xFFFFFFFE, *[0xFFFFFFFD] * tables]
    chain += [0xFFFFFFFF] * (128 * tables - len(chain))
    places = [*range(sectors + 1, sectors + 1 + tables)]
    places += [0xFFFFFFFF] * (109 - len(places))
    header = bytes.fromhex("d0cf11e0a1b11ae1") + bytes(16) + struct.pack("<HHHHH", 62, 3, 0xFFFE, 9, 6) + bytes(6)
    header += struct.pack("<IIIIIIIII", 0, tables, sectors, 0, 4096, 0xFFFFFFFE, 0, 0xFFFFFFFE, 0)
    letters = (name + "\0").encode("utf-16-le")
    entry = letters.ljust(64, b"\0") + struct.pack("<HBB", len(letters), 2, 1) + bytes(48)
    entry += struct.pack("<III", 0, len(stream), 0)
    return (
        header
        + struct.pack("<109I", *places)
        + stream.ljust(512 * sectors, b"\0")
        + entry.ljust(512, b"\0")
        + struct.pack(f"<{len(chain)}I", *chain)
    )


# written by the program (ncompress 4.2.4, at most 10 bits): 20000 times "a", then 21000 parentheses in an order that
# compresses so much worse that the table is emptied once
EMPTIED_ONCE = (
    b"ADxO}0ty^Ru%N+%2oow?$grWqhY%x5oJg^v#fum-YTU@NqsNaRLy8<pvZTqAC{wCj$+D%(moQ_>oJq5$&6_xL>fFh*r_Y~2g9;r=w5ZXeNRu"
    b"jE%CxD|r%<Cxol3Q;)vH*uYTe4UtJkk!!-^eCwyfE+Xw#})%eJlCw{YXiolCc_-Me`6>fOt?uiw9b0}CEZxUk{Fh!ZPb%($`R$B-jSo=my2<"
    b";$2eYu?Pcv**vCLyI0wy0q!js8g$6&APSg*RW&Do=v;9?c2C>>)y?~x9{J;g9{%{ytwhPD3T{nkpe~Y=gylepB~-0_2<&5FNe-OyLRT+uY0E"
    b"so_lre+rwi=pWZxp_T|-&pB}$E`|9rJE3Ys9KL7Rbxpy9V{|)$^fbS8ApnmPi=ih=4s%Id15C$k=f(Ks6Abt*7m|uh+df1_Y8iF`th9Q!eB8"
    b"n$cSfYsb!PuXS0IJv`eHGdmqmDE3SR;!&0@<UGKf1W0kvHy_Basv0_@a+ZD)}Un7$O;@l|y1#q?1Q-nPh`kdKspaU6T1Fhhu`7rI>4)nI@WT"
    b"s=1|`al$#LoKfOgC7XBJnWvw7(%EN$f$F&-p@%N1<)4U}_-3OtGO8$_l1{m3p@1f8DW#Y~3T3C03R-EIhB{iOr&MZ6YNn<R8fvMLg1V`wvaX"
    b"8irK+BJE2p_W`YNlj_Im2CyV5GGtFyxT>9M2gO6;@A0=sOh&H5T`vC5`OZLQ8;3$3l+b_=ez<c@2uxaeAYuDa<CTW-6^uIsM6@xoi}y!LX-?"
    b"!Nf)Td%+O{@d@s0v8<c!TJ)6FtZ68-0;HNGAwb#6bD=Jv=(QK@y6O}+%d<vUi|UMA$wdh$h?YtGRY~M+%n3>s{As`F}qwd%-OE2^UOQnOmog"
    b"W2kmpuKo2c+(MU`Cv(iK}eYDd?N1ZgbP){8$zz=6VvCUS$i}ltxS1mTxWM8eY)-p>yw%HDYy>!`LpY3+jaMKGh*K5b!cG_LrjW*tO=R5b)fq"
    b"%_+-hL0RcHwd#&iLMdvwe5ik5B%#<bP9+x#E2b?)c`P>uovRphqrx=9iz&IpUt1o_Of5yWYCys>42e>ao+FJMOoWUc2mu1K+stkn7$%;iVfN"
    b"yz;{{Up(*2L*Kmg&-=c+^~W!sJoTd^|GV?uYyUm>sAC_!`O~9cz4zC%pMB@&yC1*!?bH80>+{2(zWn>!pFjTn>%YGL{p-KJ|NZN~zW@E}zrO"
    b"$d>%YGL{p-KJ|NZN~zW@E}zrO$d>%YGL{p-KJ|NZN~zW@E}zrO$d>%YGL{p-KJ|NZN~zW@E}zrO$d>%YGL{p-KJ|NZN~zW@E}zrO$d>%YGL{"
    b"p-KJ|NZN~zW@E}zrO$d>%YGL{p-KJ|NZN~zW@E}zrO$d>%YGL{p-KJ|NZN~zW@E}zrO$d>%YGL{p-KJ|NZN~zW@E}zrO$d>%YGL{p-KJ|NZN"
    b"~zW@E}zrO$d>%YGL{p-KJ|NZN~zW@E}zrO$d>%YGL{p-KJ|NZN~zW@E}zrO$d>%YGL{p-KJ|NZN~zW@E}zrO$d>%YGL{p-KJ|NZN~zW@E}zr"
    b"O$d>%YGL{p-KJ|NZN~zW@E}zrO$d>%YGL{p-KJ|NZN~zW@E}zrO$d>%YGL{p-KJ|NZN~zW@E}zrO$d>%YGL{p-KJ|NZN~zW@E}zrO$d>%YGL"
    b"{p-KJ|NZN~zW@E}zrO$d>%YGL{p-KJ|NZN~zW@E}zrO$d>%YGL{p-KJ|NZN~zW@CL1ONaiP^3s9upq&K0TU`jc+en0g$o->d<ZchLxTb-R=h"
    b"Z|VnU7%JzA6)QY6TO8X=y{D3T>fgeG6IjENCt%at%a;!GK_=1iS3b8ZaE^CQulM`^w+I?|_5l}Uj*W$Lmf)tyMEW?j0~YS)fRy@mxVmFw7&W"
    b"yPi?J5=jgn{R)%HM<t=T(x)ELUmggZeO{3>E^W?7;j;{Jp~^ooY-(<wg"
)
