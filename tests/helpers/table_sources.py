"""Small sources of protected tables, as texts."""

from __future__ import annotations

LINKED = """region,size,trade,turnover
n1,small,food,5
n1,small,food,6
n1,large,wood,7
n2,small,wood,8
n2,small,wood,3
n2,large,coal,9
n2,large,coal,8
n2,large,coal,6
s1,small,wood,4
s1,small,wood,4
s1,large,food,3
s1,large,coal,2
s1,large,wood,5
t1,large,coal,3
t1,small,coal,4
t1,small,coal,9
t1,large,coal,6
"""
READY = """region,size,val,n,top1,top2,st,c
n1,small,50,5,20,15,,1
n1,large,30,4,25,3,,90
n2,small,10,2,6,4,,2
n2,large,20,3,10,5,S,3
s1,small,40,6,15,10,,4
s1,large,60,8,15,10,,70
s1,Total,100,14,15,15,,5
Total,small,100,13,20,15,P,6
"""
# Each two towns are a district, of which no hierarchy tells.
TOWNS = "town,district,sex\n" + "".join(
    f"t{town},d{(town + 1) // 2},{sex}\n" * n
    for town, both in enumerate(((1, 9), (1, 8), (7, 9), (6, 9), (7, 9), (6, 9)), 1)
    for sex, n in zip("fm", both, strict=True)
)

# Each two of the three columns in a table: some combinations of all three do not occur.
THREE_WAYS = """r,q,s,v
a,x,1,9
a,z,2,2
c,y,2,1
b,x,2,4
c,x,1,9
c,y,2,4
b,x,1,7
d,y,1,1
b,x,2,
c,y,2,6
b,z,2,5
d,y,2,5
a,x,1,6
d,y,1,5
d,z,2,5
b,x,1,9
c,y,1,3
c,y,2,4
c,y,2,7
b,z,1,
d,y,1,8
a,x,1,9
"""

# By parts of tables, cells are suppressed that rows of both tables give away.
PARTS = """r,q,s
a,x,1
a,x,1
c,y,2
a,x,1
b,x,1
c,y,1
c,y,1
c,z,1
a,x,1
c,z,2
c,y,1
a,x,2
a,x,2
a,x,2
c,y,2
c,y,1
b,x,2
a,x,2
a,y,1
d,y,1
a,x,2
b,x,2
"""
